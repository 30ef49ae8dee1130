"""The cooperative tasks of a world as the loop follows them: `collect` of a cell (`iron_2081`), `craft` of a tool.

A cell of a resource is a task while it is in view: see `crafter_env.constraints`. A craft is a task in the steps in
which somebody makes the item, with these numbers:

- threshold: the crafting quorum;
- spatial: living agents that are near enough to a station;
- temporal: living agents that make it in this step;
- participation: living agents, anybody can take part;
- joint: those who make it and are near enough;
- dependency: one of those who make it holds its inputs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from crafter_env.constants import MAKE, Action, Cell, MakeRecipe, Material, Result
from crafter_env.constraints import CellConstraints, ConstraintWatch, aimed_cells
from crafter_env.kernels.aiming import AREA_AIM
from crafter_env.symbolic.episode_state import EpisodeState, around
from maeil.plans import Task
from maeil.tasks import Attempt, TaskState

_DO = int(Action.do)
_MAKES = {int(action): action for action in MAKE}
_NAMES = {int(material): material.name for material in Material}
_TASKS = frozenset(map(int, (Material.tree, Material.stone, Material.coal, Material.iron, Material.diamond)))


def cell_task(material: int, cell: int) -> Task:
    """The task of collecting a cell, given as x * height + y."""
    return Task("collect", f"{_NAMES[material]}_{cell + 1}")


def craft_task(action: Action) -> Task:
    """The task of making a tool."""
    return Task("craft", MAKE[action].item.name)


class Try(NamedTuple):
    """An attempt before its step is taken."""

    task: Task
    agents: tuple[int, ...]
    cell: Cell
    """Of a craft (-1, -1)."""
    material: int
    """What the cell is; of a craft `none`."""


class TaskBoard:
    """The tasks of one episode.

    Args:
        episode: what the controllers of the episode share.
    """

    def __init__(self, episode: EpisodeState) -> None:
        self._episode = episode
        self._watch = ConstraintWatch(episode.state, episode.rules)
        self._cells: dict[int, tuple[int, Task]] = {}
        self._crafts: dict[Action, TaskState] = {}

    def changes(self, joint: Sequence[int]) -> list[TaskState]:
        """Return the tasks whose constraints have changed under the primitives about to be taken."""
        changes: list[TaskState] = []
        for found in self._watch.changes(np.array(joint, dtype=np.int64), self._episode.named):
            self._note_cell(found, changes)
        makes = sorted({action for action in joint if action in _MAKES})
        if self._crafts or makes:
            changes.extend(self._craft_states(joint, makes))
        return changes

    def tries(self, joint: Sequence[int]) -> list[Try]:
        """Find the attempts of a step before it is taken."""
        episode, state = self._episode, self._episode.state
        found: dict[int, list[int]] = {}
        if _DO in joint:
            aims = aimed_cells(state, np.array(joint, dtype=np.int64), episode.rules).tolist()
            for agent, aim in enumerate(aims):
                for cell in self._cells_of(agent, aim):
                    found.setdefault(cell, []).append(agent)
        height = state.size[1]
        tries = []
        for cell, agents in found.items():
            material = int(state.materials[divmod(cell, height)])
            if material in _TASKS:
                tries.append(Try(cell_task(material, cell), tuple(agents), divmod(cell, height), material))
        for action in sorted({action for action in joint if action in _MAKES}):
            makers = tuple(agent for agent, chosen in enumerate(joint) if chosen == action and self._acts(agent))
            if makers:
                tries.append(Try(craft_task(_MAKES[action]), makers, (-1, -1), 0))
        return tries

    def judged(self, tries: Sequence[Try]) -> tuple[Attempt, ...]:
        """Return the attempts as they came off, after the step: a cell is gone, or somebody has the item."""
        state = self._episode.state
        return tuple(
            Attempt(
                found.task,
                found.agents,
                int(state.materials[found.cell]) != found.material
                if found.material
                else any(state.outcome(agent).result is Result.crafted for agent in found.agents),
            )
            for found in tries
        )

    def _acts(self, agent: int) -> bool:
        return self._episode.lives(agent) and not self._episode.sleeps(agent)

    def _cells_of(self, agent: int, aim: int) -> list[int]:
        if aim == AREA_AIM:
            episode = self._episode
            near = around(episode.cell_of(agent), episode.level.radius)
            return [episode.id_of(cell) - 1 for cell in near if episode.inside(cell)]
        return [aim] if aim >= 0 else []

    def _note_cell(self, found: CellConstraints, changes: list[TaskState]) -> None:
        """Add the state of a cell's task; before it the end of the task that the cell was, where that was another."""
        cell, material = found.cell, found.material
        before, task = self._cells.get(cell, (material, None))
        if task is not None and before != material:
            changes.append(_over(task))
            del self._cells[cell]
            task = None
        if found.threshold:
            if task is None:
                task = cell_task(material, cell)
                self._cells[cell] = material, task
            changes.append(TaskState(task, *found[2:]))

    def _craft_states(self, joint: Sequence[int], makes: Sequence[int]) -> list[TaskState]:
        now = {_MAKES[action]: self._craft_state(_MAKES[action], joint) for action in makes}
        changes = [_over(state.task) for action, state in self._crafts.items() if action not in now]
        changes += [state for action, state in now.items() if self._crafts.get(action) != state]
        self._crafts = now
        return changes

    def _craft_state(self, action: Action, joint: Sequence[int]) -> TaskState:
        episode, recipe = self._episode, MAKE[action]
        living = [agent for agent in range(episode.agents) if episode.lives(agent)]
        stations = stations_of(episode, recipe)
        near = {agent for agent in living if is_near(episode, agent, stations)}
        makers = [agent for agent in living if joint[agent] == action and self._acts(agent)]
        supplied = any(all(episode.holds(agent, item) >= units for item, units in recipe.uses) for agent in makers)
        return TaskState(
            craft_task(action),
            episode.level.quorum(episode.agents),
            len(near),
            len(makers),
            len(living),
            sum(agent in near for agent in makers),
            supplied,
        )


def is_near(episode: EpisodeState, agent: int, stations: Collection[Material]) -> bool:
    """Whether an agent is near enough to all stations of a recipe: within the crafting radius of the 3 x 3 around each.

    Args:
        episode: what the controllers of the episode share.
        agent: index.
        stations: those that `stations_of` names.
    """
    beyond = episode.profile.craft_radius if episode.level.quorum(episode.agents) > 1 else 0
    x, y = episode.cell_of(agent)
    cells = {(u + dx, v + dy) for u, v in around((x, y), beyond) for dx in (-1, 0, 1) for dy in (-1, 0, 1)}
    return all(any(episode.state.material_at(cell) is station for cell in cells) for station in stations)


def stations_of(episode: EpisodeState, recipe: MakeRecipe) -> tuple[Material, ...]:
    """The stations that a recipe takes under the rules of an episode."""
    if not episode.profile.iron_needs_table and len(recipe.stations) > 1:
        return (Material.furnace,)
    return recipe.stations


def _over(task: Task) -> TaskState:
    return TaskState(task, 0, 0, 0, 0, 0, dependency=False)

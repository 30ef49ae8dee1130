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

from collections.abc import Sequence

import numpy as np

from crafter_env.constants import MAKE, Action, Cell, Material, Result
from crafter_env.constraints import CellConstraints, ConstraintWatch, aimed_cells
from crafter_env.kernels.arrays import IntArray
from crafter_env.kernels.constraints import AREA_AIM
from crafter_env.symbolic.ground import Ground, around
from maeil.plans import Task
from maeil.tasks import Attempt, TaskState

_FIRST_MAKE, _LAST_MAKE = int(Action.make_wood_pickaxe), int(Action.make_iron_sword)
_TASKS = frozenset({Material.tree, Material.stone, Material.coal, Material.iron, Material.diamond})


def cell_task(material: Material, cell: int) -> Task:
    """The task of collecting a cell, given as x * height + y."""
    return Task("collect", f"{material.name}_{cell + 1}")


def craft_task(action: Action) -> Task:
    """The task of making a tool."""
    return Task("craft", MAKE[action].item.name)


class TaskBoard:
    """The tasks of one episode.

    Args:
        ground: what the controllers of the episode share.
    """

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._watch = ConstraintWatch(ground.state, ground.rules)
        self._cells: dict[int, Task] = {}
        self._crafts: dict[Action, TaskState] = {}

    def changes(self, joint: IntArray) -> list[TaskState]:
        """Give the tasks whose constraints have changed.

        Args:
            joint: (n,) the primitives about to be taken.
        """
        changes: list[TaskState] = []
        for found in self._watch.changes(joint, self._ground.named):
            changes.extend(self._cell_states(found))
        if self._crafts or _makes(joint).any():
            changes.extend(self._craft_states(joint))
        return changes

    def attempted(self, joint: IntArray) -> list[tuple[Task, Cell | Action, tuple[int, ...]]]:
        """Find the attempts of a step before it is taken: the task, what it is about, and who takes part."""
        ground, state = self._ground, self._ground.state
        found: dict[int | Action, list[int]] = {}
        if (joint == Action.do).any():
            for agent, aim in enumerate(aimed_cells(state, joint, ground.rules).tolist()):
                for cell in self._cells_of(agent, aim):
                    if state.material_at(cell) in _TASKS:
                        found.setdefault(ground.id_of(cell) - 1, []).append(agent)
        for agent in np.flatnonzero(_makes(joint)).tolist():
            if ground.lives(agent) and not ground.sleeps(agent):
                found.setdefault(Action(int(joint[agent])), []).append(agent)
        attempts: list[tuple[Task, Cell | Action, tuple[int, ...]]] = []
        for key, agents in found.items():
            if isinstance(key, Action):
                attempts.append((craft_task(key), key, tuple(agents)))
            else:
                cell = divmod(key, state.size[1])
                attempts.append((cell_task(state.material_at(cell), key), cell, tuple(agents)))
        return attempts

    def judged(self, attempted: Sequence[tuple[Task, Cell | Action, tuple[int, ...]]]) -> tuple[Attempt, ...]:
        """Tell after a step which of its attempts came off: a cell is gone, or somebody has the item."""
        state = self._ground.state
        attempts = []
        for task, what, agents in attempted:
            if isinstance(what, Action):
                succeeded = any(state.outcome(agent).result is Result.crafted for agent in agents)
            else:
                succeeded = not task.target.startswith(f"{state.material_at(what).name}_")
            attempts.append(Attempt(task, agents, succeeded))
        return tuple(attempts)

    def _cells_of(self, agent: int, aim: int) -> list[Cell]:
        if aim == AREA_AIM:
            near = around(self._ground.cell_of(agent), self._ground.level.radius)
            return [cell for cell in near if self._ground.inside(cell)]
        return [divmod(aim, self._ground.state.size[1])] if aim >= 0 else []

    def _cell_states(self, found: CellConstraints) -> list[TaskState]:
        """The state of a cell's task; before it the end of the task that the cell was, where that was another."""
        before = self._cells.get(found.cell)
        if not found.threshold:
            assert before is not None
            del self._cells[found.cell]
            return [_over(before)]
        task = before
        ended = []
        if before is None or not before.target.startswith(f"{Material(found.material).name}_"):
            ended = [_over(before)] if before is not None else []
            task = self._cells[found.cell] = cell_task(Material(found.material), found.cell)
        assert task is not None
        return [*ended, TaskState(task, *found[2:])]

    def _craft_states(self, joint: IntArray) -> list[TaskState]:
        now = {
            Action(action): self._craft_state(Action(action), joint)
            for action in np.unique(joint[_makes(joint)]).tolist()
        }
        changes = [_over(state.task) for action, state in self._crafts.items() if action not in now]
        changes += [state for action, state in now.items() if self._crafts.get(action) != state]
        self._crafts = now
        return changes

    def _craft_state(self, action: Action, joint: IntArray) -> TaskState:
        ground, recipe = self._ground, MAKE[action]
        living = [agent for agent in range(ground.agents) if ground.lives(agent)]
        near = {agent for agent in living if self._is_near(agent, recipe.stations)}
        makers = [agent for agent in living if joint[agent] == action and not ground.sleeps(agent)]
        supplied = any(all(ground.holds(agent, item) >= units for item, units in recipe.uses) for agent in makers)
        return TaskState(
            craft_task(action),
            ground.level.quorum(ground.agents),
            len(near),
            len(makers),
            len(living),
            sum(agent in near for agent in makers),
            supplied,
        )

    def _is_near(self, agent: int, stations: tuple[Material, ...]) -> bool:
        """Whether an agent is near enough to all stations: within the crafting radius of the 3 x 3 around each."""
        ground = self._ground
        if not ground.profile.iron_needs_table and len(stations) > 1:
            stations = (Material.furnace,)
        beyond = ground.profile.craft_radius if ground.level.quorum(ground.agents) > 1 else 0
        x, y = ground.cell_of(agent)
        cells = {(u + dx, v + dy) for u, v in around((x, y), beyond) for dx in (-1, 0, 1) for dy in (-1, 0, 1)}
        return all(any(ground.state.material_at(cell) is station for cell in cells) for station in stations)


def _makes(joint: IntArray) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    made: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] = (joint >= _FIRST_MAKE) & (joint <= _LAST_MAKE)
    return made


def _over(task: Task) -> TaskState:
    return TaskState(task, 0, 0, 0, 0, 0, dependency=False)

"""The cooperative tasks of a world, as the main loop tracks them: `collect` a cell (`iron_2081`), `craft` a tool.

A resource cell is a task while it is in view; see `crafter_env.constraints`. A craft is a task in each step in which an
agent makes the item, with these numbers:

- threshold: the crafting quorum;
- spatial: living agents that are near enough to a station;
- temporal: living agents that make it in this step;
- participation: these, plus living agents whose live plan makes it next; every agent can take part;
- joint: agents that make it and are near enough;
- dependency: one of the agents that make it holds its inputs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crafter_env.constants import COLLECT, MAKE, WALKABLE, Action, Cell, Item, MakeRecipe, Material, Result
from crafter_env.constraints import CellConstraints, ConstraintWatch, aimed_cells
from crafter_env.kernels.grid import AREA_AIM, NO_CELL
from crafter_env.profiles import SCORE_BASE
from crafter_env.symbolic.actions import MATERIAL_OF, MATERIAL_OF_RESOURCE, Collect, Craft, Navigate, primitive_of
from crafter_env.symbolic.episode_state import EpisodeState, around
from maeil.plans import Plan, Task
from maeil.tasks import Attempt, OpenTask, TaskState
from maeil.world import NEAREST

_DO = int(Action.do)
_MAKES = {int(action): action for action in MAKE}
_NAMES = {int(material): material.name for material in Material}
_TASKS = frozenset(map(int, (Material.tree, Material.stone, Material.coal, Material.iron, Material.diamond)))


def cell_task(material: int, cell: int) -> Task:
    """Return the task of collecting a cell, given as x * height + y."""
    return Task("collect", f"{_NAMES[material]}_{cell + 1}")


def craft_task(action: Action) -> Task:
    """Return the task of making a tool."""
    return Task("craft", MAKE[action].item.name)


class Try(NamedTuple):
    """An attempt, before its step is taken."""

    task: Task
    agents: tuple[int, ...]
    cell: Cell
    """Cell of the task; for a craft (-1, -1)."""
    material: int
    """Material of the cell; for a craft `none`."""


class TaskBoard:
    """The tasks of one episode.

    Args:
        episode: state shared by the controllers of the episode.
    """

    def __init__(self, episode: EpisodeState) -> None:
        self._episode = episode
        self._watch = ConstraintWatch(episode.state, episode.rules)
        self._cells: dict[int, tuple[int, Task]] = {}
        self._crafts: dict[Action, TaskState] = {}

    def changes(self, joint: Sequence[int], plans: Sequence[Plan | None]) -> list[TaskState]:
        """Return the tasks whose constraints have changed under the primitives about to be taken and the live plans."""
        changes: list[TaskState] = []
        episode = self._episode
        keys = [_key_of(episode, agent, plan) for agent, plan in enumerate(plans)]
        served = [episode.id_of(key) - 1 if isinstance(key, tuple) else NO_CELL for key in keys]
        for found in self._watch.changes(np.array(joint), episode.named, np.array(served)):
            self._note_cell(found, changes)
        makes = sorted({action for action in joint if action in _MAKES})
        if self._crafts or makes:
            changes.extend(self._craft_states(joint, makes, keys))
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
        """Return the results of the attempts after the step: a cell is gone, or an agent has the item."""
        return tuple(Attempt(found.task, found.agents, self._succeeded(found)) for found in tries)

    def _succeeded(self, found: Try) -> bool:
        state = self._episode.state
        if found.material:
            return int(state.materials[found.cell]) != found.material
        return any(state.outcome(agent).result is Result.crafted for agent in found.agents)

    def _acts(self, agent: int) -> bool:
        return self._episode.lives(agent) and not self._episode.sleeps(agent)

    def _cells_of(self, agent: int, aim: int) -> list[int]:
        if aim == AREA_AIM:
            episode = self._episode
            near = around(episode.cell_of(agent), episode.level.radius)
            return [episode.id_of(cell) - 1 for cell in near if episode.inside(cell)]
        return [aim] if aim >= 0 else []

    def _note_cell(self, found: CellConstraints, changes: list[TaskState]) -> None:
        """Add the state of a cell's task; if the cell was another task before, end that one first."""
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
            literal = found.threshold, found.spatial, found.able
            changes.append(TaskState(task, *found[2:7], found.able >= found.threshold, literal))

    def _craft_states(self, joint: Sequence[int], makes: Sequence[int], keys: Sequence[_Key | None]) -> list[TaskState]:
        now = {_MAKES[action]: self._craft_state(_MAKES[action], joint, keys) for action in makes}
        changes = [_over(state.task) for action, state in self._crafts.items() if action not in now]
        changes += [state for action, state in now.items() if self._crafts.get(action) != state]
        self._crafts = now
        return changes

    def _craft_state(self, action: Action, joint: Sequence[int], keys: Sequence[_Key | None]) -> TaskState:
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
            len({*makers, *(agent for agent in living if keys[agent] == action)}),
            sum(agent in near for agent in makers),
            supplied,
        )


def is_near(episode: EpisodeState, agent: int, stations: Collection[Material]) -> bool:
    """Whether an agent is near enough to all stations of a recipe: within the crafting radius of the 3 x 3 around each.

    Args:
        episode: state shared by the controllers of the episode.
        agent: index of the agent.
        stations: the result of `stations_of`.
    """
    beyond = episode.profile.craft_radius if episode.level.quorum(episode.agents) > 1 else 0
    x, y = episode.cell_of(agent)
    cells = {(u + dx, v + dy) for u, v in around((x, y), beyond) for dx in (-1, 0, 1) for dy in (-1, 0, 1)}
    return all(any(episode.state.material_at(cell) is station for cell in cells) for station in stations)


def stations_of(episode: EpisodeState, recipe: MakeRecipe) -> tuple[Material, ...]:
    """Return the stations that a recipe requires under the rules of an episode."""
    if not episode.profile.iron_needs_table and len(recipe.stations) > 1:
        return (Material.furnace,)
    return recipe.stations


def _over(task: Task) -> TaskState:
    return TaskState(task, 0, 0, 0, 0, 0, dependency=False)


_RESOURCES = tuple(material for material, recipe in COLLECT.items() if recipe.item in SCORE_BASE)
_MAKE_OF: Mapping[str, Action] = {recipe.item.name: action for action, recipe in MAKE.items()}
FlagArray = npt.NDArray[np.bool_]
_CELL = re.compile(rf"\b({'|'.join(material.name for material in _RESOURCES)})_(\d{{1,9}})\b")
_MADE = re.compile(rf"\b({'|'.join(_MAKE_OF)})\b")


def open_tasks(episode: EpisodeState, plans: Sequence[Plan | None], text: str = "") -> list[OpenTask]:
    """Return the tasks named in living agents' plans or in a text, the nearest resource cells, and their crafts.

    Args:
        episode: state shared by the controllers of the episode.
        plans: the live plan of each agent.
        text: names cells as `iron_2081`, and crafts by the item.
    """
    living = [agent for agent in range(episode.agents) if episode.lives(agent)]
    cells: dict[Cell, list[int]] = {}
    crafts: dict[Action, list[int]] = {}
    for agent in living:
        key = _key_of(episode, agent, plans[agent])
        if isinstance(key, Action):
            crafts.setdefault(key, []).append(agent)
        elif key is not None:
            cells.setdefault(key, []).append(agent)
    for key in (*_named(episode, text), *_nearest(episode, living)[:NEAREST]):
        if not isinstance(key, Action):
            cells.setdefault(key, [])
        elif not all(episode.holds(agent, MAKE[key].item) for agent in living):
            crafts.setdefault(key, [])
    collects = [_collect(episode, living, cell, planned) for cell, planned in cells.items()]
    for task in collects:
        for tool, _ in task.missing:
            crafts.setdefault(_MAKE_OF[tool], [])
    return [*collects, *(_craft(episode, living, action, planned) for action, planned in crafts.items())]


_Key = Cell | Action


def _key_of(episode: EpisodeState, agent: int, plan: Plan | None) -> _Key | None:
    """Return what a plan works at now; None for nothing."""
    return next(_keys(episode, agent, plan), None) if plan is not None else None


def _keys(episode: EpisodeState, agent: int, plan: Plan) -> Iterator[_Key]:
    """Yield what a plan works at, in order: cells that still hold the named resource, and tools to make."""
    for action in plan.actions:
        match action:
            case Craft(item=tool) if not episode.holds(agent, Item[tool.value]):
                yield primitive_of(tool)
            case Collect(resource=resource, target=int(identity)) if resource in MATERIAL_OF_RESOURCE:
                yield from _cell(episode, identity, MATERIAL_OF_RESOURCE[resource])
            case Collect(resource=resource, target=None) if resource in MATERIAL_OF_RESOURCE:
                yield from _nearest_of(episode, [agent], MATERIAL_OF_RESOURCE[resource])
            case Navigate(target=target, id=identity) if target in MATERIAL_OF:
                yield from _cell(episode, identity, MATERIAL_OF[target])
    if plan.task is not None:
        yield from _named(episode, plan.task.target)


def _named(episode: EpisodeState, text: str) -> list[Cell | Action]:
    """Return what a text names: cells that still hold the named resource, and tools to make."""
    cells = [cell for material, found in _CELL.findall(text) for cell in _cell(episode, int(found), Material[material])]
    return [*cells, *(_MAKE_OF[tool] for tool in _MADE.findall(text))]


def _cell(episode: EpisodeState, identity: int, material: Material) -> list[Cell]:
    """Return the cell with an id if it holds the named resource and an agent has seen it."""
    cell = episode.cell_with(identity)
    if cell is None or material not in _RESOURCES or episode.state.material_at(cell) is not material:
        return []
    return [cell] if (episode.memory[:, cell[0], cell[1]] == material).any() else []


def _nearest(episode: EpisodeState, living: Sequence[int]) -> list[Cell]:
    """Return the nearest known cell of each resource, nearest first."""
    found = [cell for material in _RESOURCES for cell in _nearest_of(episode, living, material)]
    return sorted(found, key=lambda cell: min(episode.distance(agent, cell) for agent in living))


def _nearest_of(episode: EpisodeState, agents: Sequence[int], material: Material) -> list[Cell]:
    """Return the known cell of a material nearest to any of the agents, as a list of one or none.

    A cell with an adjacent cell where an agent could stand, as far as they know, goes before one that is closed in.
    """
    if material not in _RESOURCES or not agents:
        return []
    memory = episode.memory[list(agents)]
    known = (episode.state.materials == material) & (memory == material).any(axis=0)
    open_ones = known & _next_to(np.logical_or.reduce(np.isin(memory, WALKABLE), axis=0))
    cells = np.argwhere(open_ones if open_ones.any() else known)
    if not len(cells):
        return []
    ways = np.abs(cells[:, None] - episode.state.positions[list(agents)][None]).sum(axis=2).min(axis=1)
    x, y = cells[int(ways.argmin())].tolist()
    return [(x, y)]


def _next_to(cells: FlagArray) -> FlagArray:
    """Return the cells adjacent to some cells; both are masks of the map, (W, H)."""
    found = np.zeros_like(cells)
    found[1:] |= cells[:-1]
    found[:-1] |= cells[1:]
    found[:, 1:] |= cells[:, :-1]
    found[:, :-1] |= cells[:, 1:]
    return found


def _collect(episode: EpisodeState, living: Sequence[int], cell: Cell, planned: Sequence[int]) -> OpenTask:
    material = episode.state.material_at(cell)
    tool = COLLECT[material].tool
    needs = episode.level.threshold(material, episode.agents)
    in_place = tuple(agent for agent in living if episode.distance(agent, cell) <= episode.level.radius)
    able = tuple(agent for agent in living if tool is None or episode.holds(agent, tool))
    lacks = needs - len(able) if tool is not None else 0
    return OpenTask(
        cell_task(material, episode.id_of(cell) - 1),
        needs,
        max(0, needs - len(set(in_place) & set(able))),
        in_place,
        able if len(able) < len(living) else None,
        tuple(planned),
        ((tool.name, lacks),) if tool is not None and lacks > 0 else (),
        (str(craft_task(_MAKE_OF[tool.name])),) if tool is not None and lacks > 0 else (),
    )


def _craft(episode: EpisodeState, living: list[int], action: Action, planned: Sequence[int]) -> OpenTask:
    recipe = MAKE[action]
    needs = episode.level.quorum(episode.agents)
    stations = stations_of(episode, recipe)
    in_place = tuple(agent for agent in living if is_near(episode, agent, stations))
    lacks = {agent: _lacks(episode, agent, recipe) for agent in living}
    able = [agent for agent in living if not lacks[agent]] if needs == 1 else living
    items = min((lacks[agent] for agent in planned or living), key=lambda items: sum(items.values()))
    unknown = [] if in_place else [s for s in stations if not (episode.memory[living] == s).any()]
    return OpenTask(
        craft_task(action),
        needs,
        max(0, needs - len(set(in_place) & set(able))),
        in_place,
        tuple(able) if needs == 1 else None,
        tuple(planned),
        (*((item.name, units) for item, units in items.items()), *((station.name, 1) for station in unknown)),
        (
            *(str(Task("collect", item.name)) for item in items),
            *(str(Task("place", station.name)) for station in unknown),
        ),
    )


def _lacks(episode: EpisodeState, agent: int, recipe: MakeRecipe) -> dict[Item, int]:
    """Return the missing units of each input of a recipe for an agent."""
    return {item: units - held for item, units in recipe.uses if (held := episode.holds(agent, item)) < units}

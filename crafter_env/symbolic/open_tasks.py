"""The tasks of the open world as feedback tells them: what to collect and to craft, who is there, what is missing.

Told are the cells and tools of live plans; of each of the five resources the nearest cell that a living agent knows;
and the tools that these take and too few agents hold. The numbers are those of `crafter_env.constraints` and of
`symbolic.tasks`, with these names:

- a cell: `able` are the living agents that hold its tool (None: all of them); `missing` the tool, for how many more,
  and the craft of it stands before;
- a craft: `able` are those that hold all it takes, where it takes one agent (of a joint craft one of them has to, and
  everybody is able to help); `missing` is what the best supplied agent lacks, and a station that nobody knows. To
  collect the one and to place the other stands before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from crafter_env.constants import COLLECT, MAKE, WALKABLE, Action, Cell, Item, MakeRecipe, Material
from crafter_env.profiles import SCORE_BASE
from crafter_env.symbolic.actions import MATERIAL_OF, MATERIAL_OF_RESOURCE, Collect, Craft, Navigate
from crafter_env.symbolic.episode_state import EpisodeState
from crafter_env.symbolic.tasks import cell_task, craft_task, is_near, stations_of
from maeil.plans import Plan, Task
from maeil.tasks import OpenTask
from maeil.world import NEAREST

_RESOURCES = tuple(material for material, recipe in COLLECT.items() if recipe.item in SCORE_BASE)
_MAKE_OF: Mapping[str, Action] = {recipe.item.name: action for action, recipe in MAKE.items()}
FlagArray = npt.NDArray[np.bool_]
_CELL = re.compile(r"([a-z]+)_(\d+)")


def open_tasks(episode: EpisodeState, plans: Sequence[Plan | None]) -> list[OpenTask]:
    """Return the tasks that living agents plan, the nearest cells of all resources, and the crafts before these.

    Args:
        episode: what the controllers of the episode share.
        plans: the live plan of each agent.
    """
    living = [agent for agent in range(episode.agents) if episode.lives(agent)]
    cells: dict[Cell, list[int]] = {}
    crafts: dict[Action, list[int]] = {}
    for agent in living:
        plan = plans[agent]
        key = next(_keys(episode, agent, plan), None) if plan is not None else None
        if isinstance(key, Action):
            crafts.setdefault(key, []).append(agent)
        elif key is not None:
            cells.setdefault(key, []).append(agent)
    for cell in _nearest(episode, living)[:NEAREST]:
        cells.setdefault(cell, [])
    collects = [_collect(episode, living, cell, planned) for cell, planned in cells.items()]
    for task in collects:
        for tool, _ in task.missing:
            crafts.setdefault(_MAKE_OF[tool], [])
    return [*collects, *(_craft(episode, living, action, planned) for action, planned in crafts.items())]


def _keys(episode: EpisodeState, agent: int, plan: Plan) -> Iterator[Cell | Action]:
    """What a plan works at, first what comes first: cells that still hold what it names, and tools to make."""
    for action in plan.actions:
        match action:
            case Craft(item=tool) if not episode.holds(agent, Item[tool.value]):
                yield tool.primitive
            case Collect(resource=resource, target=int(identity)) if resource in MATERIAL_OF_RESOURCE:
                yield from _cell(episode, identity, MATERIAL_OF_RESOURCE[resource])
            case Collect(resource=resource, target=None) if resource in MATERIAL_OF_RESOURCE:
                yield from _nearest_of(episode, [agent], MATERIAL_OF_RESOURCE[resource])
            case Navigate(target=target, id=identity) if target in MATERIAL_OF:
                yield from _cell(episode, identity, MATERIAL_OF[target])
    if plan.task is None:
        return
    if plan.task.target in _MAKE_OF:
        yield _MAKE_OF[plan.task.target]
    elif (found := _CELL.fullmatch(plan.task.target)) and found[1] in Material.__members__:
        yield from _cell(episode, int(found[2]), Material[found[1]])


def _cell(episode: EpisodeState, identity: int, material: Material) -> list[Cell]:
    """The cell with an id, where it holds a resource, it is the one that is named, and somebody has seen that."""
    cell = episode.cell_with(identity)
    if cell is None or material not in _RESOURCES or episode.state.material_at(cell) is not material:
        return []
    return [cell] if (episode.memory[:, cell[0], cell[1]] == material).any() else []


def _nearest(episode: EpisodeState, living: Sequence[int]) -> list[Cell]:
    """The nearest known cell of each resource, nearest first."""
    found = [cell for material in _RESOURCES for cell in _nearest_of(episode, living, material)]
    return sorted(found, key=lambda cell: min(episode.distance(agent, cell) for agent in living))


def _nearest_of(episode: EpisodeState, agents: Sequence[int], material: Material) -> list[Cell]:
    """The cell of a material that is nearest to one of some agents, of those that one of them knows; none or one.

    A cell beside which somebody could stand, as far as they know, goes before one that is closed in.
    """
    if material not in _RESOURCES or not agents:
        return []
    memory = episode.memory[list(agents)]
    known = (episode.state.materials == material) & (memory == material).any(axis=0)
    open_ones = known & _beside(np.logical_or.reduce(np.isin(memory, WALKABLE), axis=0))
    cells = np.argwhere(open_ones if open_ones.any() else known)
    if not len(cells):
        return []
    ways = np.abs(cells[:, None] - episode.state.positions[list(agents)][None]).sum(axis=2).min(axis=1)
    x, y = cells[int(ways.argmin())].tolist()
    return [(x, y)]


def _beside(cells: FlagArray) -> FlagArray:
    """The cells beside some cells, both as masks of the map, (W, H)."""
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
    """The units of each input of a recipe that an agent does not have."""
    return {item: units - held for item, units in recipe.uses if (held := episode.holds(agent, item)) < units}

"""Checks whether the things named in plans can exist, and the names that plans may use.

For an agent, a task exists as far as the agent can know. A seen cell is what it was last seen as, an unseen cell may be
anything, and a creature exists while it is in view.
"""

from __future__ import annotations

import re

import numpy as np

from crafter_env.constants import Entity, Material
from crafter_env.symbolic.actions import (
    CREATURES_OF,
    MATERIAL_OF_RESOURCE,
    VOCABULARY,
    Collect,
    Direction,
    Navigate,
    Noop,
    Placeable,
    Resource,
    Share,
    Target,
    Tool,
)
from crafter_env.symbolic.episode_state import EpisodeState
from maeil.actions import SymbolicAction
from maeil.plans import Plan, Task
from maeil.tasks import Tasks, no_such_task
from maeil.world import Ids

LISTED = 200
"""Maximum number of cells with listed tasks; the nearest come first."""
_SOURCES = tuple(MATERIAL_OF_RESOURCE.values())
_CREATURES = {"eat": (Entity.cow, Entity.plant, Entity.ripe_plant), "fight": (Entity.zombie, Entity.skeleton)}
_ALWAYS = {
    "collect": list(dict.fromkeys([*(material.name for material in _SOURCES), *map(str, Resource), "points"])),
    "craft": list(map(str, Tool)),
    "place": list(map(str, Placeable)),
    "eat": ["cow", "plant"],
    "fight": ["zombie", "skeleton"],
    "explore": [*map(str, Direction), "team"],
    "sleep": ["here"],
    "hide": ["shelter"],
}
"""The tasks that name no cell and no creature, available in every state."""
_CELL = re.compile(rf"\b({'|'.join(material.name for material in _SOURCES)})_([1-9]\d{{0,8}})\b")


def check_plan(episode: EpisodeState, agent: int, plan: Plan) -> tuple[str, ...]:
    """Return why an agent cannot carry out a plan, or why its task cannot exist."""
    found = [problem for action in plan.actions for problem in check_action(episode, agent, action)]
    if plan.task is not None and not _exists(episode, agent, plan.task):
        found.append(no_such_task(plan.task, known_tasks(episode, agent)))
    return tuple(found)


def known_tasks(episode: EpisodeState, agent: int | None, text: str = "") -> Tasks:
    """Return the tasks known to an agent (None: to any living agent), plus possible tasks named in a text."""
    agents = [one for one in (range(episode.agents) if agent is None else [agent]) if episode.lives(one)]
    if not agents:
        return {}
    heard = (found[0] for found in _CELL.finditer(text) if any(_may_be(episode, one, found) for one in agents))
    found = {**_ALWAYS, "collect": [*_ALWAYS["collect"], *dict.fromkeys([*_seen(episode, agents), *heard])]}
    for kind in _CREATURES:
        found[kind] = [*found[kind], *dict.fromkeys(name for one in agents for name in _in_view(episode, one, kind))]
    return found


def _exists(episode: EpisodeState, agent: int, task: Task) -> bool:
    """Whether a task can exist, as far as an agent knows."""
    if not episode.lives(agent) or task.kind not in _ALWAYS:
        return False
    if task.target in _ALWAYS[task.kind]:
        return True
    cell = _CELL.fullmatch(task.target) if task.kind == "collect" else None
    if cell is not None:
        return _may_be(episode, agent, cell)
    return task.kind in _CREATURES and task.target in _in_view(episode, agent, task.kind)


def _may_be(episode: EpisodeState, agent: int, named: re.Match[str]) -> bool:
    """Whether a named cell can have the named material, as far as an agent knows."""
    cell = episode.cell_with(int(named[2]))
    return cell is not None and episode.may_be(agent, cell, Material[named[1]])


def _seen(episode: EpisodeState, agents: list[int]) -> list[str]:
    """Return the names of the cells in which agents have seen something to collect, nearest first."""
    known = episode.memory[agents]
    found = np.argwhere(np.isin(known, _SOURCES))
    ways = np.abs(found[:, 1:] - episode.state.positions[agents][found[:, 0]]).sum(axis=1)
    cells = found[np.argsort(ways, kind="stable")].tolist()
    names = dict.fromkeys(f"{Material(known[one, x, y]).name}_{episode.id_of((x, y))}" for one, x, y in cells)
    return list(names)[:LISTED]


def _in_view(episode: EpisodeState, agent: int, kind: str) -> list[str]:
    """Return the names of the creatures in view that match a kind of task, nearest first."""
    found = episode.creatures(agent, _CREATURES[kind])
    return [f"{entity.name}_{episode.creature_id(creature)}" for entity, creature in found]


def check_action(episode: EpisodeState, agent: int, action: SymbolicAction) -> list[str]:
    """Return why an agent cannot carry out an action; obstacles that may change on the way are not reported."""
    if not episode.lives(agent) and not isinstance(action, Noop):
        return [f"{action}: a dead agent can do nothing but noop"]
    match action:
        case Navigate(target=Target.agent, id=other) | Share(agent=other):
            if not 0 <= other < episode.agents:
                return [f"{action}: there is no agent {other}; indices go from 0 to {episode.agents - 1}"]
            if other == agent:
                return [f"{action}: this is the agent itself"]
            if isinstance(action, Share) and not episode.profile.sharing:
                return [f"{action}: there is no sharing in the profile {episode.profile.name!r}"]
            if isinstance(action, Navigate) and action.near is not None and episode.cell_with(action.near) is None:
                return _check_cell(episode, agent, action, action.near)
        case Navigate(target=target, id=identity) if target.value in CREATURES_OF:
            pass  # creatures come into view and leave it while a plan runs
        case Navigate(id=int(identity)) | Collect(target=int(identity)) if not _is_creature(action):
            return _check_cell(episode, agent, action, identity)
    return []


def known_ids(episode: EpisodeState, agent: int | None) -> Ids:
    """Return the names that `check_action` accepts in the current state, for one agent or for any.

    A plan may name any cell of the map, because a message may have named it; its content shows when the agent is near.
    """
    if agent is not None and not episode.lives(agent):
        return {action.model_fields["action"].default: [] for action in VOCABULARY if action is not Noop}
    others = [other for other in range(episode.agents) if other != agent] if episode.agents > 1 else []
    cells = range(1, episode.state.materials.size + 1)
    creatures = [target.value for target in Target if target.value in CREATURES_OF]
    places = [target.value for target in Target if target is not Target.agent and target.value not in CREATURES_OF]
    sources = [resource.value for resource in Resource if resource.value not in CREATURES_OF]
    bag = range(1, episode.profile.item_cap + 1)
    return {
        "share": [{"agent": others if episode.profile.sharing else [], "quantity": bag}],
        "navigate": [
            {"target": [Target.agent.value], "id": others, "near": (None, cells)},
            {"target": places, "id": cells},
            {"target": creatures},
        ],
        "collect": [
            {"resource": sources, "target": (None, cells)},
            {"resource": [resource.value for resource in Resource if resource.value in CREATURES_OF]},
        ],
    }


def _check_cell(episode: EpisodeState, agent: int, action: SymbolicAction, identity: int) -> list[str]:
    cell = episode.cell_with(identity)
    if cell is None:
        return [f"{action}: no cell has the id {identity}; ids go from 1 to {episode.state.materials.size}"]
    if episode.known_only and episode.known(agent, cell) is Material.none:
        return [f"{action}: this agent has seen no cell with the id {identity}"]
    return []


def _is_creature(action: SymbolicAction) -> bool:
    return isinstance(action, Collect) and action.resource.value in CREATURES_OF

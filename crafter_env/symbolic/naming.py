"""What plans name: whether there can be such a thing, and what they may name.

A task exists for an agent as far as the agent can know: a cell that it has seen is what it was seen as, one that it has
not seen may be anything, and a creature is there while it is in view.
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
"""Cells whose tasks are listed, at most: the nearest."""
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
"""The tasks that name no cell and no creature: there are these in every state."""
_CELL = re.compile(rf"\b({'|'.join(material.name for material in _SOURCES)})_([1-9]\d{{0,8}})\b")


def check_plan(episode: EpisodeState, agent: int, plan: Plan) -> tuple[str, ...]:
    """Return why an agent can by no means carry out a plan, or why there is no such task, in words."""
    found = [problem for action in plan.actions for problem in check_action(episode, agent, action)]
    if plan.task is not None and not _exists(episode, agent, plan.task):
        found.append(no_such_task(plan.task, known_tasks(episode, agent)))
    return tuple(found)


def known_tasks(episode: EpisodeState, agent: int | None, text: str = "") -> Tasks:
    """Return the tasks that an agent knows of, for None all who live, and those that a text names and there can be."""
    agents = [one for one in (range(episode.agents) if agent is None else [agent]) if episode.lives(one)]
    if not agents:
        return {}
    heard = (found[0] for found in _CELL.finditer(text) if any(_may_be(episode, one, found) for one in agents))
    found = {**_ALWAYS, "collect": [*_ALWAYS["collect"], *dict.fromkeys([*_seen(episode, agents), *heard])]}
    for kind in _CREATURES:
        found[kind] = [*found[kind], *dict.fromkeys(name for one in agents for name in _in_view(episode, one, kind))]
    return found


def _exists(episode: EpisodeState, agent: int, task: Task) -> bool:
    """Whether there can be a task, as far as an agent knows."""
    if not episode.lives(agent) or task.kind not in _ALWAYS:
        return False
    if task.target in _ALWAYS[task.kind]:
        return True
    cell = _CELL.fullmatch(task.target) if task.kind == "collect" else None
    if cell is not None:
        return _may_be(episode, agent, cell)
    return task.kind in _CREATURES and task.target in _in_view(episode, agent, task.kind)


def _may_be(episode: EpisodeState, agent: int, named: re.Match[str]) -> bool:
    """Whether a cell that is named can be what it is said to be, as far as an agent knows."""
    cell = episode.cell_with(int(named[2]))
    return cell is not None and episode.may_be(agent, cell, Material[named[1]])


def _seen(episode: EpisodeState, agents: list[int]) -> list[str]:
    """The names of the cells that agents have seen something to collect in, the nearest first."""
    known = episode.memory[agents]
    found = np.argwhere(np.isin(known, _SOURCES))
    ways = np.abs(found[:, 1:] - episode.state.positions[agents][found[:, 0]]).sum(axis=1)
    cells = found[np.argsort(ways, kind="stable")].tolist()
    names = dict.fromkeys(f"{Material(known[one, x, y]).name}_{episode.id_of((x, y))}" for one, x, y in cells)
    return list(names)[:LISTED]


def _in_view(episode: EpisodeState, agent: int, kind: str) -> list[str]:
    """The names of the creatures in view that tasks of a kind are about, the nearest first."""
    found = episode.creatures(agent, _CREATURES[kind])
    return [f"{entity.name}_{episode.creature_id(creature)}" for entity, creature in found]


def check_action(episode: EpisodeState, agent: int, action: SymbolicAction) -> list[str]:
    """Return why an agent can by no means carry out an action, in words; what may change on the way is left to try."""
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
    """Return what actions may name in the present state, for an agent, or for anybody: what `check_action` takes.

    A plan may name any cell of the map, since a message may have named it; what is there shows when it is near.
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

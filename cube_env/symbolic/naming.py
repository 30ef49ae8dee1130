"""Checks of the names in plans and actions against the board, and the names they may use."""

from __future__ import annotations

import re

from cube_env.constants import Face
from cube_env.symbolic.actions import Entity, Navigate, OnBlock, Rendezvous, WaitAgents
from cube_env.symbolic.episode_state import EpisodeState
from maeil.actions import SymbolicAction
from maeil.plans import Plan, Task
from maeil.tasks import Tasks, no_such_task
from maeil.world import Ids

_ON_BLOCK, _ON_FACE = ("deliver", "stand_by"), ("push",)
"""Task kinds: push a block to the goal, or be at it before its turn comes; and push it from a face."""
_TARGET = re.compile(rf"block_(0|[1-9]\d{{0,8}})(/(?:{'|'.join(Face)}))?")


def check_plan(episode: EpisodeState, agent: int, plan: Plan) -> tuple[str, ...]:
    """Return errors for unknown names in a plan and for quorums larger than the team."""
    found = [problem for action in plan.actions for problem in check_action(episode, agent, action)]
    if plan.task is not None and not _exists(episode, plan.task):
        found.append(no_such_task(plan.task, known_tasks(episode)))
    return tuple(found)


def _exists(episode: EpisodeState, task: Task) -> bool:
    # Avoids building the list of all tasks, which for a large team takes longer than the rest of the check.
    target = _TARGET.fullmatch(task.target)
    if target is None or task.kind not in (_ON_FACE if target[2] else _ON_BLOCK):
        return False
    return int(target[1]) < len(episode.blocks) and episode.is_live(int(target[1]))


def known_tasks(episode: EpisodeState) -> Tasks:
    """Return the tasks of the live blocks, the same for all agents."""
    blocks = [f"block_{block}" for block in _live_blocks(episode)]
    faces = [f"{block}/{face}" for block in blocks for face in Face]
    return {**dict.fromkeys(_ON_BLOCK, blocks), **dict.fromkeys(_ON_FACE, faces)}


def check_action(episode: EpisodeState, agent: int, action: SymbolicAction) -> list[str]:
    """Return the reasons why an agent cannot carry out an action in the current state."""
    team = len(episode.state.agents)
    missing = missing_entity(episode, agent, action)
    if missing is not None:
        return [f"{action}: {missing[1]}"]
    block = block_of(action)
    if block is not None and not episode.is_live(block):
        gone = "is not on the board any more" if episode.was_removed(block) else "is delivered"
        return [f"{action}: block_{block} {gone}"]
    if isinstance(action, (Rendezvous, WaitAgents)) and action.count > team:
        return [f"{action}: count {action.count} is more than the {team} agents of the team"]
    return []


def known_ids(episode: EpisodeState, agent: int | None) -> Ids:
    """Return the names that `check_action` accepts in the current state, for one agent or for any."""
    blocks = _live_blocks(episode)
    agents = len(episode.state.agents)
    others = [other for other in range(agents) if other != agent]
    team = range(1, agents + 1)
    side = episode.state.side
    on_block: Ids = {name: [{"block": blocks}] for name in ("move_to_block", "yield_block", "push")}
    return {
        **on_block,
        "push_block": [{"block": blocks, "steps": range(1, side + 1)}],
        "rendezvous": [{"block": blocks, "count": team}],
        "wait_agents": [{"count": team}],
        "navigate": [
            {"entity": [Entity.block.value], "id": blocks, "cell": [None]},
            {"entity": [Entity.agent.value], "id": others if agents > 1 else [], "cell": [None]},
            {"entity": [Entity.goal.value], "id": [None], "cell": [None]},
            {"entity": [Entity.cell.value], "id": [None], "cell": (range(side), range(side))},
        ],
    }


def _live_blocks(episode: EpisodeState) -> list[int]:
    return [block for block in range(len(episode.blocks)) if episode.is_live(block)]


def missing_entity(episode: EpisodeState, agent: int, action: SymbolicAction) -> tuple[str, str] | None:
    """Return what an action names that this board does not have: as an identifier with numbers, and in words.

    Returns:
        None if nothing is missing.
    """
    blocks, agents, side = len(episode.blocks), len(episode.state.agents), episode.state.side
    block = block_of(action)
    if block is not None and not 0 <= block < blocks:
        return f"no_such_block {block}", f"there is no block_{block}; ids go from 0 to {blocks - 1}"
    match action:
        case Navigate(entity=Entity.agent, id=int(other)):
            if not 0 <= other < agents:
                return f"no_such_agent {other}", f"there is no agent {other}; indices go from 0 to {agents - 1}"
            if other == agent:
                return "navigates_to_itself", "an agent cannot navigate to itself"
        case Navigate(entity=Entity.cell, cell=(row, col)):
            if not (0 <= row < side and 0 <= col < side):
                return f"outside_the_grid {row} {col}", f"({row}, {col}) is outside the grid of side {side}"
    return None


def block_of(action: SymbolicAction) -> int | None:
    """Return the id of the block that an action names; None if it names none."""
    if isinstance(action, Navigate):
        return action.id if action.entity is Entity.block else None
    return action.block if isinstance(action, OnBlock) else None

"""What actions name: whether this board has it, and what they may name."""

from __future__ import annotations

from cube_env.symbolic.actions import Entity, Navigate, OnBlock, Rendezvous, WaitAgents
from cube_env.symbolic.episode_state import EpisodeState
from maeil.actions import SymbolicAction
from maeil.world import Ids


def check_action(episode: EpisodeState, agent: int, action: SymbolicAction) -> list[str]:
    """Return why an agent cannot carry out an action in the present state, in words."""
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
    """Return what actions may name in the present state, for an agent, or for anybody: what `check_action` takes."""
    blocks = [block for block in range(len(episode.blocks)) if episode.is_live(block)]
    agents = len(episode.state.agents)
    others = [other for other in range(agents) if other != agent]
    team = range(1, agents + 1)
    on_block: Ids = {name: [{"block": blocks}] for name in ("move_to_block", "push_block", "yield_block", "push")}
    return {
        **on_block,
        "rendezvous": [{"block": blocks, "count": team}],
        "wait_agents": [{"count": team}],
        "navigate": [
            {"entity": [Entity.block.value], "id": blocks, "cell": [None]},
            {"entity": [Entity.agent.value], "id": others if agents > 1 else [], "cell": [None]},
            {"entity": [Entity.goal.value], "id": [None], "cell": [None]},
            {"entity": [Entity.cell.value], "id": [None]},
        ],
    }


def missing_entity(episode: EpisodeState, agent: int, action: SymbolicAction) -> tuple[str, str] | None:
    """Return what an action names that this board does not have: as an identifier with numbers, and in words.

    Returns:
        None when there is nothing.
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
    """Return the id of the block that an action names; None when it names none."""
    if isinstance(action, Navigate):
        return action.id if action.entity is Entity.block else None
    return action.block if isinstance(action, OnBlock) else None

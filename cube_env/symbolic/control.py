"""From a symbolic action to its controller, and what makes an action impossible."""

from __future__ import annotations

from cube_env.constants import Action, Face
from cube_env.symbolic.actions import (
    Entity,
    Idle,
    Move,
    MoveToBlock,
    Navigate,
    OnBlock,
    PushBlock,
    PushTowards,
    Rendezvous,
    Wait,
    WaitAgents,
    YieldBlock,
)
from cube_env.symbolic.controller import CubeController, RefusedAction, RepeatController
from cube_env.symbolic.episode_state import EpisodeState
from cube_env.symbolic.pushing import PushBlockController, PushController
from cube_env.symbolic.waiting import RendezvousController, WaitAgentsController
from cube_env.symbolic.walking import (
    MoveToBlockController,
    NavigateController,
    YieldBlockController,
)
from maeil.actions import SymbolicAction
from maeil.world import Ids


def make_controller(episode: EpisodeState, agent: int, action: SymbolicAction) -> CubeController:
    """Start the controller of an action; one that names nothing on this board fails before its first tick."""
    missing = missing_entity(episode, agent, action)
    if missing is not None:
        return RefusedAction(episode, agent, action, missing[0])
    match action:
        case Move():
            return RepeatController(episode, agent, action, action.direction.action, action.steps)
        case MoveToBlock():
            return MoveToBlockController(episode, agent, action, (action.block, action.face), action.timeout)
        case Rendezvous():
            return RendezvousController(episode, agent, action)
        case PushBlock():
            return PushBlockController(episode, agent, action)
        case YieldBlock():
            return YieldBlockController(episode, agent, action)
        case Idle() | Wait():
            return RepeatController(episode, agent, action, Action.STAY, action.steps)
        case WaitAgents():
            return WaitAgentsController(episode, agent, action)
        case PushTowards():
            return PushController(episode, agent, action)
        case Navigate(entity=Entity.block, id=int(block)):
            # Blocks are delivered by pushing them right, so the way to a block is the way to its left face.
            return MoveToBlockController(episode, agent, action, (block, Face.left), action.timeout)
        case Navigate():
            return NavigateController(episode, agent, action)
        case _:
            raise TypeError(f"CUBE has no controller for {type(action).__name__}")


def check_action(episode: EpisodeState, agent: int, action: SymbolicAction) -> list[str]:
    """Return why an agent cannot carry out an action in the present state, in words."""
    team = len(episode.state.agents)
    missing = missing_entity(episode, agent, action)
    if missing is not None:
        return [f"{action}: {missing[1]}"]
    block = block_of(action)
    if block is not None and not episode.is_live(block):
        gone = "is not on the board any more" if episode.was_removed(block) else "is delivered"
        return [f"{action}: block {block} {gone}"]
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
        return f"no_such_block {block}", f"there is no block {block}; ids go from 0 to {blocks - 1}"
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

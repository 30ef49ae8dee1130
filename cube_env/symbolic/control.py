"""Factory of the controllers that turn symbolic actions into primitives."""

from __future__ import annotations

from cube_env.constants import Action, Face
from cube_env.symbolic import actions, navigation, pushing, waiting
from cube_env.symbolic.controller import CubeController, RepeatController
from cube_env.symbolic.episode_state import EpisodeState
from cube_env.symbolic.naming import missing_entity
from maeil.actions import SymbolicAction
from maeil.controllers import failed
from maeil.world import ActionEnd


class RefusedAction(CubeController):
    """An action that cannot start: it fails before its first tick."""

    def __init__(self, episode: EpisodeState, agent: int, action: SymbolicAction, reason: str) -> None:
        super().__init__(episode, agent, action, None)
        self._refusal = failed(reason)

    def check(self) -> ActionEnd | None:
        """Fail."""
        return self._refusal


def make_controller(episode: EpisodeState, agent: int, action: SymbolicAction) -> CubeController:
    """Start the controller of an action; one that names something missing on the board fails before its first tick."""
    missing = missing_entity(episode, agent, action)
    if missing is not None:
        return RefusedAction(episode, agent, action, missing[0])
    match action:
        case actions.Move():
            return RepeatController(episode, agent, action, action.direction.action, action.steps)
        case actions.MoveToBlock():
            return navigation.MoveToBlockController(episode, agent, action, (action.block, action.face), action.timeout)
        case actions.Rendezvous():
            return waiting.RendezvousController(episode, agent, action)
        case actions.PushBlock():
            return pushing.PushBlockController(episode, agent, action)
        case actions.YieldBlock():
            return navigation.YieldBlockController(episode, agent, action)
        case actions.Idle() | actions.Wait():
            return RepeatController(episode, agent, action, Action.STAY, action.steps)
        case actions.WaitAgents():
            return waiting.WaitAgentsController(episode, agent, action)
        case actions.PushTowards():
            return pushing.PushController(episode, agent, action)
        case actions.Navigate(entity=actions.Entity.block, id=int(block)):
            # Blocks are delivered by pushing them right, so the path to a block is the path to its left face.
            return navigation.MoveToBlockController(episode, agent, action, (block, Face.left), action.timeout)
        case actions.Navigate():
            return navigation.NavigateController(episode, agent, action)
        case _:
            raise TypeError(f"CUBE has no controller for {type(action).__name__}")

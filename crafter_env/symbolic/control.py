"""Factory of the controllers that turn symbolic actions into primitives."""

from __future__ import annotations

from crafter_env.symbolic import actions, collecting, inventory, navigation, waiting
from crafter_env.symbolic.controller import CrafterController, RepeatController
from crafter_env.symbolic.episode_state import EpisodeState
from maeil.actions import SymbolicAction


def make_controller(episode: EpisodeState, agent: int, action: SymbolicAction) -> CrafterController:
    """Start the controller of an action."""
    match action:
        case actions.Noop():
            return waiting.NoopController(episode, agent, action)
        case actions.Move():
            return RepeatController(episode, agent, actions.primitive_of(action.direction), action.steps)
        case actions.Collect() if action.resource in actions.MATERIAL_OF_RESOURCE:
            return collecting.CellController(episode, agent, action)
        case actions.Collect(resource=actions.Resource.sapling):
            return collecting.SaplingController(episode, agent, action)
        case actions.Collect():
            return collecting.CreatureController(episode, agent, action)
        case actions.Craft():
            return inventory.CraftController(episode, agent, action)
        case actions.Sleep():
            return waiting.SleepController(episode, agent)
        case actions.Place():
            return inventory.PlaceController(episode, agent, action)
        case actions.Share():
            return inventory.ShareController(episode, agent, action)
        case actions.Navigate():
            return navigation.NavigateController(episode, agent, action)
        case _:
            raise TypeError(f"the open world has no controller for {type(action).__name__}")

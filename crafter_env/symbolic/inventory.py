"""Controllers that use an agent's inventory: craft a tool, place an object, share with a teammate."""

from __future__ import annotations

from crafter_env.constants import DISPLACEMENT, PLACE, Entity, Item, Material, PlaceRecipe, Result
from crafter_env.state import Outcome
from crafter_env.symbolic.actions import Craft, Place, Placeable, Share, primitive_of
from crafter_env.symbolic.controller import CrafterController, Reason, encode_share
from crafter_env.symbolic.episode_state import EpisodeState
from maeil.controllers import SUCCESS, failed
from maeil.world import ActionEnd
from quorum_base.drawing import Way


class CraftController(CrafterController):
    """Make a tool; try again while too few agents make it together."""

    def __init__(self, episode: EpisodeState, agent: int, action: Craft) -> None:
        super().__init__(episode, agent)
        self._steps = action.steps
        self.step = int(primitive_of(action.item))

    def check(self) -> ActionEnd | None:
        """End by the result of the last step."""
        episode = self.episode
        if episode.sleeps(self.agent):
            return failed(Reason.asleep)
        quorum = episode.level.quorum(episode.agents)
        if episode.living < quorum:
            return failed(Reason.team_too_small, episode.living, "of", quorum)
        if self.ticks == 0:
            return None
        outcome = episode.state.outcome(self.agent)
        if outcome.result is Result.too_few_agents and self.ticks < self._steps:
            return None
        return _crafted(outcome)


def _crafted(outcome: Outcome) -> ActionEnd:
    match outcome:
        case Outcome(result=Result.crafted):
            return SUCCESS
        case Outcome(result=Result.missing_input, item=item) if item is not None:
            return failed(Reason.missing_input, item.name, outcome.present, "of", outcome.required)
        case Outcome(result=Result.too_few_agents):
            return failed(Reason.too_few_agents, outcome.present, "of", outcome.required)
        case Outcome(result=Result.no_station, target=Material() as station):
            return failed(Reason.no_station, station.name)
        case _:
            return failed(Reason.asleep)


class PlaceController(CrafterController):
    """Place an object on the faced cell, or take a step after which it can be placed."""

    def __init__(self, episode: EpisodeState, agent: int, action: Place) -> None:
        super().__init__(episode, agent)
        self._object = action.object
        self._primitive = primitive_of(action.object)
        self._recipe: PlaceRecipe = PLACE[self._primitive]

    def check(self) -> ActionEnd | None:
        """Succeed once the object is placed; fail without the input, or without a cell for it after one step."""
        episode, agent, recipe = self.episode, self.agent, self._recipe
        if episode.sleeps(agent):
            return failed(Reason.asleep)
        if self.ticks and self.step == self._primitive:
            placed = episode.state.outcome(agent).result is Result.placed
            return SUCCESS if placed else failed(Reason.no_place, self._object)
        if self._object is Placeable.plant and not episode.profile.mobs:
            return failed(Reason.not_in_profile, self._object)
        held = episode.holds(agent, recipe.item)
        if held < recipe.amount:
            return failed(Reason.missing_input, recipe.item.name, held, "of", recipe.amount)
        if self._bears(episode.faced(agent)):
            self.step = int(self._primitive)
            return None
        x, y = episode.cell_of(agent)
        for action, (dx, dy) in DISPLACEMENT.items():
            there = x + dx, y + dy
            if episode.is_free(there):
                leads_on = self._bears((x + 2 * dx, y + 2 * dy))
            else:
                leads_on = self._bears(there) and episode.state.material_at(there) is not Material.lava
            if self.ticks < 2 and leads_on:
                self.step = int(action)
                return None
        return failed(Reason.no_place, self._object)

    def _bears(self, cell: tuple[int, int]) -> bool:
        state = self.episode.state
        return state.material_at(cell) in self._recipe.where and state.entity_at(cell) is Entity.none


class ShareController(CrafterController):
    """Give a teammate some of an item."""

    def __init__(self, episode: EpisodeState, agent: int, action: Share) -> None:
        super().__init__(episode, agent)
        self._share = action
        self.step = encode_share(action.agent, Item[action.item], action.quantity, episode.agents)

    def check(self) -> ActionEnd | None:
        """Fail before the step if the share is impossible; otherwise end by its result."""
        episode, share = self.episode, self._share
        if not 0 <= share.agent < episode.agents:
            return failed(Reason.no_such_agent, share.agent)
        if episode.sleeps(self.agent):
            return failed(Reason.asleep)
        if self.ticks == 0:
            return self._hindrance()
        outcome = episode.state.outcome(self.agent)
        match outcome.result:
            case Result.shared:
                return SUCCESS
            case Result.recipient_far:
                return failed(Reason.recipient_far, outcome.present, "of", outcome.required)
            case Result.recipient_full:
                return failed(Reason.recipient_full, share.agent)
            case Result.not_held:
                return failed(Reason.not_held, share.item)
            case Result.recipient_dead:
                return failed(Reason.recipient_dead, share.agent)
            case _:
                return failed(Reason.not_shareable, share.item)

    def way(self) -> Way:
        """Return the way to the teammate."""
        return self.way_over((), self.episode.cell_of(self._share.agent))

    def _hindrance(self) -> ActionEnd | None:
        episode, share = self.episode, self._share
        if not episode.profile.sharing:
            return failed(Reason.not_in_profile, "share")
        if share.agent == self.agent:
            return failed(Reason.no_such_agent, share.agent)
        if not episode.holds(self.agent, Item[share.item]):
            return failed(Reason.not_held, share.item)
        return None

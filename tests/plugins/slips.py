"""Minds that decide as the heuristic does, but for one plan, or from a step on: whoever slips is known to the test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from maeil.component import Compatibility, Component, ComponentConfig, Handover, TeamContext
from maeil.mind import Act, Mind, Thought, View
from maeil.plans import Plan
from quorum.agents.skills import skills_of
from quorum.configuration.registry import minds


class SlipsConfig(ComponentConfig):
    """Who slips, when, and for how long."""

    name: Literal["slips"]
    agent: Annotated[int, Field(ge=-1)]
    """Index of the agent; -1: nobody."""
    turn: Annotated[int, Field(ge=0)]
    """Its turn to plan in which it slips, from 0."""
    lasts: bool
    """Whether it does so in all later turns, too."""
    actions: list[dict[str, Any]]
    """What it plans then."""


class Slips:
    """A mind that slips."""

    def __init__(self, mind: Mind, config: SlipsConfig, plan: Plan) -> None:
        self._mind, self._config, self._plan = mind, config, plan
        self._turns = 0

    async def think(self, view: View) -> Thought:
        """Decide as the mind does, or slip."""
        thought = await self._mind.think(view)
        if Act.PLAN not in view.turn.acts:
            return thought
        number, self._turns = self._turns, self._turns + 1
        slips = number >= self._config.turn if self._config.lasts else number == self._config.turn
        return Thought(self._plan) if view.agent == self._config.agent and slips else thought


def build(config: SlipsConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team."""
    plan = Plan(tuple(context.world.vocabulary.parse(action) for action in config.actions))
    return [Slips(mind, config, plan) for mind in skills_of(context.world.name).heuristic(context.world)]


minds.register(
    "slips", Component(SlipsConfig, build, talks=False, compatible=Compatibility.ANYBODY, handover=Handover.SHADOW)
)

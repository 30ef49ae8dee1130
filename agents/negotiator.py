"""Minds that talk without a language model: what a world's negotiators say and do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from maeil.component import Compatibility, Component, ComponentConfig, Handover, TeamContext
from maeil.contracts import check_items
from maeil.mind import Mind
from quorum.agents.skills import role_of


class NegotiatorConfig(ComponentConfig):
    """Parameters of `negotiator`."""

    name: Literal["negotiator"]
    noise: Annotated[float, Field(ge=0, le=1)]
    """Probability that a choice is made at random instead of by the rule."""
    patience: PositiveInt
    """Steps that an agent waits for the others of its team."""


def build(config: NegotiatorConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team, one for each agent and the coordinator, each with a random stream of its own.

    Raises:
        ValueError: there are no rules for this world.
    """
    world = context.world
    minds = len(world.agents) + context.coordinates
    generators = [context.seeds.child(agent).generator() for agent in range(minds)]
    rule = role_of(world.name, "negotiator", f"agents={config.name}")
    return check_items(rule(world, config.noise, config.patience, generators), Mind, rule, "a list of minds")  # type: ignore[type-abstract] # isinstance takes it


component = Component(NegotiatorConfig, build, compatible=Compatibility.ANYBODY, handover=Handover.SHADOW)

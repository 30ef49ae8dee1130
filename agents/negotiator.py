"""Minds that talk without a language model, one file a world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from maeil.component import Component, ComponentConfig, TeamContext
from maeil.mind import Mind


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
    if world.name == "cube":
        from quorum.agents.skills.cube.negotiator import Negotiator  # noqa: PLC0415
        from quorum.agents.skills.cube.routes import check_vocabulary  # noqa: PLC0415 (only the world in use is loaded)

        check_vocabulary(world)
        return [
            Negotiator(config.noise, config.patience, context.seeds.child(agent).generator())
            for agent in range(len(world.agents) + context.topology.coordinated)
        ]
    raise ValueError(f"agents=negotiator has no rules for the world '{world.name}'; it has rules for: cube")


component = Component(NegotiatorConfig, build)

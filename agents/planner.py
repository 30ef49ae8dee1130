"""The reference without a language model: a planner with full knowledge that commands the whole team."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import PositiveInt

from maeil.component import Component, ComponentConfig, TeamContext
from maeil.contracts import check_items
from maeil.mind import Mind
from quorum.agents.skills import role_of


class PlannerConfig(ComponentConfig):
    """How long `planner` searches for the best schedule."""

    name: Literal["planner"]
    starts: PositiveInt
    """Schedules that are made from scratch, by estimated times."""
    changes: PositiveInt
    """Changes that are tried on each of them."""
    rollouts: PositiveInt
    """Schedules that are carried out in the world's rules to see what they really take, at most."""
    work: PositiveInt
    """Agents times cells times steps that these rollouts may come to."""


def build(config: PlannerConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team, one for each agent; all draws come from one random stream.

    Raises:
        ValueError: there is no planner for this world, or the topology wants a coordinator.
    """
    world = context.world
    if context.topology.coordinated:
        raise ValueError("agents=planner does not talk, so it has no coordinator: choose topology=individual")
    rule = role_of(world.name, "planner", f"agents={config.name}")
    minds = rule(world, context.seeds.generator(), **config.model_dump(exclude={"name"}))
    return check_items(minds, Mind, rule, "a list of minds")  # type: ignore[type-abstract] # isinstance takes it


component = Component(PlannerConfig, build, talks=False)

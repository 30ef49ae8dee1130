"""The reference without a language model: a planner with full knowledge that commands the whole team."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import PositiveInt

from maeil.component import Component, ComponentConfig, TeamContext
from maeil.mind import Mind
from quorum.agents.skills import Effort, MissingSkill, required, skills_of


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
    effort = Effort(config.starts, config.changes, config.rollouts, config.work)
    try:
        return skills_of(world.name).planner(world, effort, context.seeds.generator())
    except MissingSkill as missing:
        raise required(config.name, missing) from None


component = Component(PlannerConfig, build, talks=False)

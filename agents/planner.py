"""The reference without a language model: a planner that commands the whole team, one file a world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import PositiveInt

from maeil.component import Component, ComponentConfig, TeamContext
from maeil.mind import Mind


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
    if world.name == "cube":
        from quorum.agents.skills.cube.planner.search import Effort  # noqa: PLC0415
        from quorum.agents.skills.cube.planner.team import PlannedTeam  # noqa: PLC0415 (only the world in use is loaded)

        effort = Effort(config.starts, config.changes, config.rollouts, config.work)
        return PlannedTeam(len(world.agents), world.vocabulary, effort, context.seeds.generator()).minds
    raise ValueError(f"agents=planner has no planner for the world '{world.name}'; it has one for: cube")


component = Component(PlannerConfig, build)

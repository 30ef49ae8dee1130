"""The greedy baseline without a language model: what a world's heuristic decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from maeil.component import Component, ComponentConfig, TeamContext
from maeil.mind import Mind
from quorum.agents.skills import MissingSkill, required, skills_of


class HeuristicConfig(ComponentConfig):
    """`heuristic` has no parameters."""

    name: Literal["heuristic"]


def build(config: HeuristicConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team, one for each agent; they draw nothing at random.

    Raises:
        ValueError: there is no greedy rule for this world, or the topology wants a coordinator.
    """
    if context.topology.coordinated:
        raise ValueError("agents=heuristic does not talk, so it has no coordinator: choose topology=individual")
    try:
        return skills_of(context.world.name).heuristic(context.world)
    except MissingSkill as missing:
        raise required(config.name, missing) from None


component = Component(HeuristicConfig, build, talks=False)

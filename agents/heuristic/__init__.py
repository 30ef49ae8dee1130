"""The greedy baseline without a language model, one file a world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from maeil.component import Component, ComponentConfig
from maeil.mind import Mind
from maeil.seeds import Seeds
from maeil.world import World


class HeuristicConfig(ComponentConfig):
    """`heuristic` has no parameters."""

    name: Literal["heuristic"]


def build(config: HeuristicConfig, world: World, seeds: Seeds, coordinated: bool) -> Sequence[Mind]:  # noqa: ARG001
    """Make the minds of a team, one for each agent; it has no parameter and draws nothing.

    Raises:
        ValueError: there is no greedy rule for this world, or the topology wants a coordinator.
    """
    if coordinated:
        raise ValueError("agents=heuristic does not talk, so it has no coordinator: choose topology=individual")
    if world.name == "cube":
        from agents.heuristic.cube import GreedyTeam  # noqa: PLC0415 (only the world in use is loaded)

        return GreedyTeam(len(world.agents)).minds
    raise ValueError(f"agents=heuristic has no rule for the world '{world.name}'; it has one for: cube")


component = Component(HeuristicConfig, build)

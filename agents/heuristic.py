"""The greedy baseline without a language model, one file a world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from maeil.component import Component, ComponentConfig, TeamContext
from maeil.mind import Mind


class HeuristicConfig(ComponentConfig):
    """`heuristic` has no parameters."""

    name: Literal["heuristic"]


def build(config: HeuristicConfig, context: TeamContext) -> Sequence[Mind]:  # noqa: ARG001 (it has no parameters)
    """Make the minds of a team, one for each agent; they draw nothing at random.

    Raises:
        ValueError: there is no greedy rule for this world, or the topology wants a coordinator.
    """
    world = context.world
    if context.topology.coordinated:
        raise ValueError("agents=heuristic does not talk, so it has no coordinator: choose topology=individual")
    if world.name == "cube":
        from quorum.agents.skills.cube.heuristic import GreedyTeam  # noqa: PLC0415
        from quorum.agents.skills.cube.routes import check_vocabulary  # noqa: PLC0415 (only the world in use is loaded)

        check_vocabulary(world)
        return GreedyTeam(len(world.agents)).minds
    if world.name == "crafter":
        from quorum.agents.skills.crafter.heuristic import ClimbingTeam  # noqa: PLC0415

        return ClimbingTeam(len(world.agents)).minds
    if world.name == "transport":
        from quorum.agents.skills.transport.heuristic import HandingTeam  # noqa: PLC0415

        return HandingTeam(len(world.agents)).minds
    if world.name == "squeeze":
        from quorum.agents.skills.squeeze.heuristic import SearchingTeam  # noqa: PLC0415

        return SearchingTeam(len(world.agents)).minds
    raise ValueError(
        f"agents=heuristic has no rule for the world '{world.name}'; it has one for: cube, crafter, transport, squeeze"
    )


component = Component(HeuristicConfig, build)

"""What a team of minds is built for, in tests."""

from __future__ import annotations

from maeil import Seeds, TeamContext, Topology, World
from quorum.topologies.plain import Individual


def context(world: World, topology: Topology | None = None, seed: int = 0) -> TeamContext:
    """Give the context of a team without language models."""

    def models(name: str) -> None:
        raise AssertionError(f"{name} asks for a language model")

    return TeamContext(world, topology or Individual(), Seeds(seed, "minds"), models)

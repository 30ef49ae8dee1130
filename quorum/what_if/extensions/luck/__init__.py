"""Luck: what the world draws at random differs between draws of one board, and not only what minds and models draw.

A world draws its lots from the seed of its board, so that all draws of a board (`draw=range(0,3)`) meet the same luck.
With this extension they do not: each draw, and each episode of a line, has its own. The board stays what it is.
"""

from __future__ import annotations

from maeil.component import Component
from maeil.extension import Extension, ExtensionConfig, ExtensionContext
from maeil.topology import Topology
from maeil.world import DrawsLots
from quorum.what_if.extensions.luck.events import WorldLuck

_SEEDS = 2**32


class Luck(Extension):
    """Gives a world its own luck, before anybody thinks. In a world that draws no lots it does nothing.

    Args:
        seed: of the stream that the world draws from.
    """

    name = "luck"

    def __init__(self, seed: int) -> None:
        self._seed: int | None = seed

    def conversation_begins(self, topology: Topology) -> None:  # noqa: ARG002 - it does not matter how they talk
        """Start the stream, once: the board has been drawn, and no step was taken."""
        if self._seed is not None and isinstance(self.episode.world, DrawsLots):
            luck = WorldLuck(self._seed)
            luck.apply(self.episode.world)
            self.episode.record(luck)
        self._seed = None


def build(_config: ExtensionConfig, context: ExtensionContext) -> Luck:
    """Make the extension."""
    return Luck(context.seeds.integer() % _SEEDS)


component = Component(ExtensionConfig, build)

"""Luck: the random draws of the world differ between draws of one board, in addition to those of minds and models.

By default, a world draws from the seed of its board, so that all draws of a board (`draw=range(0,3)`) have the same
luck. With this extension, each draw, and each episode of a line, has its own luck. The board stays the same.
"""

from __future__ import annotations

from maeil.component import Component
from maeil.extension import Extension, ExtensionConfig, ExtensionContext
from maeil.topology import Topology
from maeil.world import DrawsLots
from quorum.what_if.extensions.luck.events import WorldLuck

_SEEDS = 2**32


class Luck(Extension):
    """Gives a world its own luck, before any agent thinks. It does nothing in a world without random draws.

    Args:
        seed: seed of the random stream of the world.
    """

    name = "luck"

    def __init__(self, seed: int) -> None:
        self._seed: int | None = seed

    def conversation_begins(self, topology: Topology) -> None:  # noqa: ARG002 - it does not matter how they talk
        """Start the stream, once: after the board is drawn and before the first step."""
        if self._seed is not None and isinstance(self.episode.world, DrawsLots):
            luck = WorldLuck(self._seed)
            luck.apply(self.episode.world)
            self.episode.record(luck)
        self._seed = None


def build(_config: ExtensionConfig, context: ExtensionContext) -> Luck:
    """Make the extension."""
    return Luck(context.seeds.integer() % _SEEDS)


component = Component(ExtensionConfig, build)

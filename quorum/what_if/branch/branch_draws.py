"""Draws of a branch: the model samples that each draw uses, and random streams that restart at the branch point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from maeil.seeds import Seeds
from quorum.configuration.schema import MOST_DRAWS


def sample_number(draws: Sequence[int]) -> int:
    """Return the number that makes the requests of a draw distinct samples; 0 for the first draw.

    Args:
        draws: number of the draw, after those of the branches above it.
    """
    others = [draw for draw in draws if draw]
    if len(others) < 2:
        return sum(others)
    return Seeds(0, "/".join(map(str, draws))).integer() % MOST_DRAWS


@dataclass(slots=True)
class Streams:
    """The random streams of the minds of an episode."""

    _draws: list[int] = field(default_factory=list)
    _given: list[tuple[Seeds, np.random.Generator]] = field(default_factory=list)

    def redraw(self, draw: int) -> None:
        """Restart all streams, including those that are created later."""
        self._draws.append(draw)
        for place, generator in self._given:
            generator.bit_generator.state = self.now(place).generator().bit_generator.state

    def now(self, place: Seeds) -> Seeds:
        """Return the current place of a stream."""
        for draw in self._draws:
            place = place.child("draw").child(draw)
        return place

    def give(self, place: Seeds) -> np.random.Generator:
        """Return a generator that restarts with all streams."""
        generator = self.now(place).generator()
        self._given.append((place, generator))
        return generator


@dataclass(frozen=True, slots=True)
class DrawnSeeds(Seeds):
    """A place in the tree of random streams whose generators can restart during an episode.

    A number that a mind has already taken with `integer` does not change.

    Attributes:
        streams: the streams of the whole tree.
    """

    streams: Streams = field(default_factory=Streams, compare=False)

    def child(self, name: str | int) -> DrawnSeeds:
        """Return the place below this one."""
        below = Seeds.child(self, name)
        return DrawnSeeds(below.seed, below.path, self.streams)

    def integer(self) -> int:
        """Return this place's seed as an integer of 64 bits."""
        return self.streams.now(Seeds(self.seed, self.path)).integer()

    def generator(self) -> np.random.Generator:
        """Return a generator that starts this place's stream."""
        return self.streams.give(Seeds(self.seed, self.path))

"""Random streams that are derived from one seed and a path, so that a new component shifts nobody else's draws.

The idea of hierarchical paths is MASEval's.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Seeds:
    """A place in the tree of random streams.

    Attributes:
        seed: the seed of the episode.
        path: where in the tree this is, e.g. `minds/3`.
    """

    seed: int
    path: str = ""

    def child(self, name: str | int) -> Seeds:
        """Return the place below this one."""
        return Seeds(self.seed, f"{self.path}/{name}" if self.path else str(name))

    def integer(self) -> int:
        """Return this place's seed as an integer of 64 bits."""
        digest = hashlib.sha256(f"{self.seed}:{self.path}".encode()).digest()
        return int.from_bytes(digest[:8], "little")

    def generator(self) -> np.random.Generator:
        """Return a generator that starts this place's stream."""
        return np.random.Generator(np.random.PCG64(self.integer()))

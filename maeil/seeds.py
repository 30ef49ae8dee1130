"""Random streams derived from a seed and a path, so that adding a component does not change the draws of others.

The idea of hierarchical paths comes from MASEval.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Seeds:
    """A node in the tree of random streams.

    Attributes:
        seed: the seed of the episode.
        path: path of the node, such as `minds/3`.
    """

    seed: int
    path: str = ""

    def child(self, name: str | int) -> Seeds:
        """Return the child node with this name."""
        return Seeds(self.seed, f"{self.path}/{name}" if self.path else str(name))

    def integer(self) -> int:
        """Return the node's seed as a 64-bit integer."""
        digest = hashlib.sha256(f"{self.seed}:{self.path}".encode()).digest()
        return int.from_bytes(digest[:8], "little")

    def generator(self) -> np.random.Generator:
        """Return a new generator at the start of the node's stream."""
        return np.random.Generator(np.random.PCG64(self.integer()))

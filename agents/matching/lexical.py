"""Needs and offers by the characters that they have in common: no model, the same in every process."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from maeil.descriptors import Descriptor

LENGTHS = (3, 4, 5)
"""Characters of the n-grams."""
BUCKETS = 4096
"""Counts of a text, among which its n-grams are spread by a checksum."""


class LexicalMatcher:
    """Scores an offer by the cosine of hashed counts of character n-grams, of texts and tasks alike.

    It stands where DyTopo has the embeddings of a small language model.
    """

    name = "lexical"

    async def match(self, descriptors: Sequence[Descriptor]) -> list[list[float]]:
        """Return how well each offers what another one needs, from 0 to 1."""
        needs = _unit([count(descriptor.needs.words) for descriptor in descriptors])
        offers = _unit([count(descriptor.offers.words) for descriptor in descriptors])
        # Not by a matrix product: what a library adds up in another order may differ in the last digits.
        return [[float(np.minimum((need * offer).sum(), 1)) for offer in offers] for need in needs]


def count(text: str) -> np.ndarray:
    """Count the n-grams of a text, without regard to case and to how words are spaced, by their buckets: (BUCKETS,)."""
    plain = f" {' '.join(text.lower().split())} "
    grams = [plain[i : i + n] for n in LENGTHS for i in range(len(plain) - n + 1)] if plain.strip() else []
    buckets = np.array([zlib.crc32(gram.encode()) % BUCKETS for gram in grams], dtype=np.int64)
    return np.bincount(buckets, minlength=BUCKETS).astype(np.float64)


def _unit(counts: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Bring counts to length 1; those of an empty text stay 0."""
    return [row / max(float(np.sqrt((row * row).sum())), 1.0) for row in counts]

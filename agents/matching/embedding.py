"""Needs and offers by their embeddings, which the minds give with them (DyTopo, arXiv 2602.06039)."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, hypot

from maeil.descriptors import EMBEDDING, Descriptor


class EmbeddingMatcher:
    """Scores an offer by the cosine of its embedding and that of the need; less than 0 is 0."""

    name = EMBEDDING

    async def match(self, descriptors: Sequence[Descriptor]) -> list[list[float]]:
        """Return how well each offers what another one needs, from 0 to 1."""
        return [[_cosine(one.needed, other.offered) for other in descriptors] for one in descriptors]


def _cosine(need: Sequence[float], offer: Sequence[float]) -> float:
    """Return the cosine; 0 where one of them had no words. Summed exactly: the same on every machine."""
    length = hypot(*need) * hypot(*offer)
    return min(max(fsum(a * b for a, b in zip(need, offer, strict=True)) / length, 0.0), 1.0) if length else 0.0

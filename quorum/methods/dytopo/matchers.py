"""Matchers, which compare needs with offers (DyTopo, arXiv 2602.06039), by the names used in `topology.matcher`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import fsum, hypot

import numpy as np

from quorum.methods.dytopo.descriptors import EMBEDDING, Descriptor, Need, Offer
from quorum_base.ngrams import count_ngrams

Matcher = Callable[[Sequence[Descriptor]], Sequence[Sequence[float]]]
"""Compares needs with offers: returns the scores, from 0 to 1, one row per needing agent and one column per offering
agent. The diagonal is ignored."""


def match_tasks(descriptors: Sequence[Descriptor]) -> list[list[float]]:
    """Score an offer by the share of the needed tasks that it names; offers of agents that are not free score 0."""

    def share(need: Need, offer: Offer) -> float:
        wanted = set(need.tasks)
        return len(wanted & set(offer.tasks)) / len(wanted) if wanted and offer.free else 0.0

    return [[share(one.needs, other.offers) for other in descriptors] for one in descriptors]


def match_embeddings(descriptors: Sequence[Descriptor]) -> list[list[float]]:
    """Score an offer by the cosine of its embedding with that of the need; negative cosines become 0.

    The minds supply the embeddings. An empty text scores 0. Sums are exact, so results are the same on every machine.
    """

    def cosine(need: Sequence[float], offer: Sequence[float]) -> float:
        length = hypot(*need) * hypot(*offer)
        return min(max(fsum(a * b for a, b in zip(need, offer, strict=True)) / length, 0.0), 1.0) if length else 0.0

    return [[cosine(one.needed, other.offered) for other in descriptors] for one in descriptors]


def match_words(descriptors: Sequence[Descriptor]) -> list[list[float]]:
    """Score an offer by the cosine of hashed character n-gram counts, over texts and task names.

    It replaces DyTopo's embeddings from a small language model.
    """
    needs = _unit([count_ngrams(descriptor.needs.words) for descriptor in descriptors])
    offers = _unit([count_ngrams(descriptor.offers.words) for descriptor in descriptors])
    # No matrix product: BLAS libraries sum in different orders, which changes the last digits.
    return [[float(np.minimum((need * offer).sum(), 1)) for offer in offers] for need in needs]


def _unit(counts: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Normalize counts to length 1; an empty text stays 0."""
    return [row / max(float(np.sqrt((row * row).sum())), 1.0) for row in counts]


MATCHERS: Mapping[str, Matcher] = {"typed": match_tasks, "lexical": match_words, EMBEDDING: match_embeddings}
"""The matchers, by the name in the configuration and the trace."""

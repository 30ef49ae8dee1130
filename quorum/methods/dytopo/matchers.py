"""How needs are compared with offers (DyTopo, arXiv 2602.06039): the matchers, by the names of `topology.matcher`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, hypot

import numpy as np

from quorum.methods.dytopo.descriptors import EMBEDDING, Descriptor, Need, Offer
from quorum_base.ngrams import count_ngrams


@dataclass(frozen=True, slots=True)
class Matcher:
    """Holds needs against offers.

    Attributes:
        name: what the configuration and the trace call it.
        match: returns how well each of different agents offers what another one needs: a row for each who needs, with
            a score from 0 to 1 for each who offers. The diagonal is not looked at.
    """

    name: str
    match: Callable[[Sequence[Descriptor]], Sequence[Sequence[float]]]


def match_tasks(descriptors: Sequence[Descriptor]) -> list[list[float]]:
    """Score an offer by the share of the needed tasks that it names; one of an agent that is not free scores 0."""

    def share(need: Need, offer: Offer) -> float:
        wanted = set(need.tasks)
        return len(wanted & set(offer.tasks)) / len(wanted) if wanted and offer.free else 0.0

    return [[share(one.needs, other.offers) for other in descriptors] for one in descriptors]


def match_embeddings(descriptors: Sequence[Descriptor]) -> list[list[float]]:
    """Score an offer by the cosine of its embedding and that of the need, which the minds give; less than 0 is 0.

    Without words it is 0. It is summed exactly: the same on every machine.
    """

    def cosine(need: Sequence[float], offer: Sequence[float]) -> float:
        length = hypot(*need) * hypot(*offer)
        return min(max(fsum(a * b for a, b in zip(need, offer, strict=True)) / length, 0.0), 1.0) if length else 0.0

    return [[cosine(one.needed, other.offered) for other in descriptors] for one in descriptors]


def match_words(descriptors: Sequence[Descriptor]) -> list[list[float]]:
    """Score an offer by the cosine of hashed counts of character n-grams, of texts and tasks alike.

    It stands where DyTopo has the embeddings of a small language model.
    """
    needs = _unit([count_ngrams(descriptor.needs.words) for descriptor in descriptors])
    offers = _unit([count_ngrams(descriptor.offers.words) for descriptor in descriptors])
    # Not by a matrix product: what a library adds up in another order may differ in the last digits.
    return [[float(np.minimum((need * offer).sum(), 1)) for offer in offers] for need in needs]


def _unit(counts: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Bring counts to length 1; those of an empty text stay 0."""
    return [row / max(float(np.sqrt((row * row).sum())), 1.0) for row in counts]


_ALL = (Matcher("typed", match_tasks), Matcher("lexical", match_words), Matcher(EMBEDDING, match_embeddings))
MATCHERS: Mapping[str, Matcher] = {matcher.name: matcher for matcher in _ALL}
"""The matchers by name."""

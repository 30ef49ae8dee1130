"""Needs and offers by the tasks that they name: exact, and without a model."""

from __future__ import annotations

from collections.abc import Sequence

from maeil.descriptors import Descriptor, Need, Offer


class TypedMatcher:
    """Scores an offer by the share of the needed tasks that it names; one of an agent that is not free scores 0."""

    name = "typed"

    async def match(self, descriptors: Sequence[Descriptor]) -> list[list[float]]:
        """Return how well each offers what another one needs, from 0 to 1."""
        return [[_share(one.needs, other.offers) for other in descriptors] for one in descriptors]


def _share(need: Need, offer: Offer) -> float:
    wanted = set(need.tasks)
    return len(wanted & set(offer.tasks)) / len(wanted) if wanted and offer.free else 0.0

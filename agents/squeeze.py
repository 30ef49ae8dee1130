"""What the rule-based minds for the squeeze share: the search for the peak of a curve, one try a round."""

from __future__ import annotations

from collections.abc import Mapping

GOLDEN = 0.381966
"""Share of a gap at which golden-section search tries next."""


def next_try(found: Mapping[int, float], highest: int) -> int:
    """Choose the next integer to try, to find the peak of a curve with one.

    Golden-section search: the peak lies between the tried neighbours of the best; the larger gap beside it is tried
    next. With nothing left to try there, the best is the peak.

    Args:
        found: what the integers tried so far have paid.
        highest: the largest integer that can be tried; 0 is the smallest.
    """
    if not found:
        return round(highest * GOLDEN)
    best = max(found, key=lambda x: (found[x], -x))
    below = max((x for x in found if x < best), default=-1)
    above = min((x for x in found if x > best), default=highest + 1)
    left, right = best - below - 1, above - best - 1
    if left == right == 0:
        return best
    if right >= left:
        return best + max(1, round((right + 1) * GOLDEN))
    return best - max(1, round((left + 1) * GOLDEN))

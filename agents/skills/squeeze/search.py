"""What the rule-based minds for the squeeze share: the search for the peak of a curve, and how a sum is shared."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import pairwise

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


def widest_gap(found: Collection[int], highest: int) -> int:
    """Choose the next integer to try, to see all of a curve: the middle of the widest gap between those tried.

    Args:
        found: the integers tried so far.
        highest: the largest integer that can be tried; 0 is the smallest. One of them has not been tried.
    """
    ends = sorted({-1, highest + 1, *found})
    below, above = max(pairwise(ends), key=lambda gap: gap[1] - gap[0])
    return (below + above) // 2


def share(total: int, agents: int, highest: int) -> list[int]:
    """Share a sum as evenly as can be, the larger picks first; as near to it as picks of 0 to `highest` come."""
    each, more = divmod(min(max(total, 0), agents * highest), agents)
    return [each + (agent < more) for agent in range(agents)]

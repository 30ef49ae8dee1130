"""Many tests at once."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float], smallest: Sequence[float] | None = None) -> list[float]:
    """Adjust the p-values of one family so that the chance of any false finding stays below the level.

    The k-th smallest of m is multiplied by m - k + 1; none is smaller than one before it, and none larger than 1 (Holm
    1979, A Simple Sequentially Rejective Multiple Test Procedure). Of these m - k + 1 only those count that could have
    a p-value as small at all: a test over three boards, which never falls below 0.25, takes no part in the chance that
    some p-value falls to 0.01 (Tarone 1990, A Modified Bonferroni Method for Discrete Data; stepwise as in Hommel and
    Krummenauer 1998, Improvements and Modifications of Tarone's Multiple Test Procedure for Discrete Data).

    Args:
        p_values: of the tests.
        smallest: the smallest p-value that each test can have; None: any can be as small as it likes.
    """
    least = [0.0] * len(p_values) if smallest is None else smallest
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(order):
        p = p_values[place]
        able = sum(least[other] <= p for other in order[rank:])
        largest = max(largest, min(1.0, able * p))
        adjusted[place] = largest
    return adjusted

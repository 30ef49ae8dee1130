"""Tests of differences over the same boards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from quorum.experiments.compare.statistics.aggregates import Floats

EXACT = 14
"""Most pairs that differ with which all sign patterns are gone through: 2 ** 14 of them."""
PERMUTATIONS = 19_999
_SEED = 20_260_302
_BLOCKS = 20


def sign_flip_test(differences: Floats) -> float:
    """Return the two-sided p-value of paired differences: how often random signs give as large a sum (Fisher 1935).

    Under the null hypothesis that the arms do not differ on a board, the sign of each board's difference is a coin's.
    With up to `EXACT` differences that are not 0 all patterns are gone through; else `PERMUTATIONS` are drawn, and the
    observed one counts among them, (b + 1) / (m + 1), so that p is never 0 (Phipson and Smyth 2010).

    Args:
        differences: one a board, shape (boards,).
    """
    differences = differences[differences != 0]
    pairs = len(differences)
    if pairs == 0:
        return 1.0
    observed = abs(float(differences.sum()))
    tolerance = 1e-9 * float(np.abs(differences).sum())
    if pairs <= EXACT:
        sums = _all_signs(pairs) @ differences
        return float(np.mean(np.abs(sums) >= observed - tolerance))
    sums = _drawn_sums(differences)
    return float((np.sum(np.abs(sums) >= observed - tolerance) + 1) / (PERMUTATIONS + 1))


def smallest_p(pairs: int) -> float:
    """Return the smallest p-value that the test can have over so many pairs: all signs alike, either way."""
    return 2 / 2**pairs if pairs <= EXACT else 1 / (PERMUTATIONS + 1)


@cache
def _all_signs(pairs: int) -> Floats:
    patterns = np.arange(2**pairs)[:, None] >> np.arange(pairs) & 1
    return np.where(patterns == 1, 1.0, -1.0)


def _drawn_sums(differences: Floats) -> Floats:
    """Return the sums under the drawn sign patterns, shape (PERMUTATIONS,), a block at a time to spare memory."""
    pairs = len(differences)
    signs = _drawn_signs(1 << (pairs - 1).bit_length())
    return np.concatenate([block[:, :pairs] @ differences for block in np.array_split(signs, _BLOCKS)])


@cache
def _drawn_signs(width: int) -> NDArray[np.int8]:
    """Draw patterns that serve all numbers of pairs up to a power of two."""
    return 2 * np.random.default_rng(_SEED).integers(0, 2, (PERMUTATIONS, width), dtype=np.int8) - 1


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust the p-values of one family so that the chance of any false finding stays below the level (Holm 1979).

    The k-th smallest of m is multiplied by m - k + 1; none is smaller than one before it, and none larger than 1.
    """
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = largest
    return adjusted


def probability_of_improvement(boards: Iterable[tuple[Sequence[float], Sequence[float]]]) -> float:
    """Return the chance that a run of one arm is greater than a run of another on the same board, ties half.

    The mean over boards of P(x > y) + P(x = y) / 2 (Agarwal et al. 2021, section 4.3, with a board as a task: the
    Mann-Whitney statistic of each, averaged). NaN over no boards.

    Args:
        boards: values of the two arms on each board, one a run, none empty.
    """
    shares = [_greater(x, y) for x, y in boards]
    return fmean(shares) if shares else float("nan")


def _greater(x: Sequence[float], y: Sequence[float]) -> float:
    return sum((a > b) + (a == b) / 2 for a in x for b in y) / (len(x) * len(y))

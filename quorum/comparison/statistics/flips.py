"""Test and interval of paired differences by one method: random signs.

Under the null hypothesis that two arms do not differ on a board, the sign of each board's difference is a coin flip
(Fisher 1935, The Design of Experiments, section 21). Flipping the signs of a set of boards lowers the sum by twice the
sum over the set. So the signs that give a sum at least as large are the sets whose mean is 0 or less. In the same way,
the sets whose mean is `shift` or less reject a mean of `shift`. So the interval of all means that are not rejected ends
at quantiles of the means over all sets of boards (Hartigan 1969, Using Subsample Values as Typical Values). It contains
0 exactly if p is above 0.05, and neither end falls when a difference grows. An end is a mean of differences of boards,
so differences of bounded values have intervals within their bounds.

With up to `EXACT` boards that differ, all sets are enumerated. With more, `DRAWN` sets are drawn, with their
complements, and the observed signs count among them, so that p is never 0 (Phipson and Smyth 2010, Permutation P-values
Should Never Be Zero). Boards that do not differ change no p-value, but they belong to the sets whose means are taken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from quorum.comparison.statistics.intervals import TAIL, Floats, agree, binomial_cdf

LEVEL = 0.05
"""A difference is significant if its p-value is at most this."""
FEWEST = 6
"""Fewest boards with which a test can reach `LEVEL`: 2 / 2**6 is the first such p-value."""
EXACT = 14
"""Most differing boards for which all 2 ** 14 sets are enumerated."""
DRAWN = 19_999
_TAIL_SHARE = 40
"""At each end, one set in 40 may be as extreme: 2.5 %."""
_SEED = 20_260_302
_MOST_KEPT = 512
"""Up to this number of boards, drawn sets are cached."""
_FEWEST_COUNTS = 32
"""Minimum number of counts of boards without a difference to combine with each set of the others."""
_NORMAL = NormalDist()
_BYTE = np.arange(256)[:, None] >> np.arange(8) & 1


def sign_flip_test(differences: Floats) -> float:
    """Return the two-sided p-value of paired differences.

    Args:
        differences: one per board, shape (boards,).
    """
    sums, _ = _sets(differences[differences != 0], 0)
    smaller = min(np.count_nonzero(sums <= 0), np.count_nonzero(sums >= 0))
    return min(1.0, 2 * smaller / len(sums))


def sign_flip_interval(differences: Floats, *, share: bool = False) -> tuple[float, float]:
    """Return the interval of the means that the test does not reject at 0.05; NaN if it has no end.

    Fewer than six boards reject nothing. If all differences are equal, nothing shows their spread. Neither case has an
    interval, except for shares with equal differences.

    Differences of shares are mostly -1, 0 or 1, and untried boards may differ from all tried ones. So their interval
    also contains what the test would not reject with one more board of 1 and one of -1, as Agresti and Min (2005,
    Simple Improved Confidence Intervals for Comparing Matched Proportions) add pseudo-data. If the test rejects 0, the
    interval ends on the side of 0 where one more board without a difference would let it end.

    Args:
        differences: one per board, shape (boards,).
        share: whether they are differences of values that always lie between 0 and 1.
    """
    changed = differences[differences != 0]
    equal = len(differences) - len(changed)
    if len(changed) == 0 or (not share and agree(differences)):
        return math.nan, math.nan
    low, high = _ends(changed, equal)
    if not (math.isfinite(low) and math.isfinite(high)):
        return math.nan, math.nan
    if share:
        nearer = _ends(changed, equal + 1)
        wider = _ends(np.append(changed, (1.0, -1.0)), equal)
        low = min(low, nearer[0]) if low > 0 else min(low, wider[0])
        high = max(high, nearer[1]) if high < 0 else max(high, wider[1])
    return low, high


def ratio_interval(parts: Floats, wholes: Floats) -> tuple[float, float]:
    """Return the outermost shares for which the test does not reject that parts - share * wholes has the mean 0.

    Whether the sum over a set of boards is below 0 changes only at the share that is the ratio of the set's own sums,
    so the ends are among these ratios. NaN if there is no end, because the wholes are not significantly above 0, or if
    the parts are the same share of the wholes on all boards.

    Args:
        parts: one per board, shape (boards,).
        wholes: one per board, of either sign, shape (boards,).
    """
    if np.ptp(parts * wholes.sum() - wholes * parts.sum()) <= 1e-12 * np.abs(parts).sum() * np.abs(wholes).sum():
        return math.nan, math.nan
    tops, bottoms = (_sets(values, 0)[0] for values in (parts, wholes))
    rising = np.sign(bottoms[bottoms != 0])  # whether a higher share gains or loses a set
    ratios = tops[bottoms != 0] / bottoms[bottoms != 0]
    order = np.argsort(ratios)
    allowed, ends = len(tops) // _TAIL_SHARE, []
    for side, places in ((tops <= 0, order), (tops >= 0, order[::-1])):
        without = np.count_nonzero(bottoms < 0) + np.count_nonzero(side & (bottoms == 0))
        held = without + np.cumsum(rising[places]) > allowed
        if without > allowed or not held.any():
            return math.nan, math.nan
        ends.append(float(ratios[places[int(np.argmax(held))]]))
    return ends[0], ends[1]


def smallest_p(boards: int) -> float:
    """Return the smallest p-value that the test can have with this many differing boards: all signs alike."""
    return 2 / 2**boards if boards <= EXACT else 1 / (DRAWN + 1)


def about_boards(effect: float, deviation: float, wanted: float) -> int:
    """Return the normal approximation of the boards for a power, but at least what the test needs to find anything.

    The boards are (z(0.975) + z(power))^2 s^2 / d^2 + z(0.975)^2 / 2, with d the effect and s the standard deviation of
    the differences over boards (Guenther 1981, Sample Size Formulas for Normal Theory t Tests).

    Args:
        effect: mean difference, not 0.
        deviation: standard deviation of the differences over boards.
        wanted: power, between 0 and 1.
    """
    level = _NORMAL.inv_cdf(1 - TAIL)
    needed = ((level + _NORMAL.inv_cdf(wanted)) * deviation / effect) ** 2 + level**2 / 2
    return max(FEWEST, math.ceil(needed))


def _ends(changed: Floats, equal: int) -> tuple[float, float]:
    """Return the ends of the interval that is not rejected; infinite if nothing is rejected."""
    return _quantiles(*_sets(changed, equal))


def _quantiles(sums: Floats, sizes: Floats) -> tuple[float, float]:
    """Return the ends of the middle 95 % of sums divided by sizes; the mean of the empty set may be anything."""
    with np.errstate(divide="ignore", invalid="ignore"):
        means = sums / sizes
    empty = sizes == 0
    place = len(means) // _TAIL_SHARE
    low = np.partition(np.where(empty, -np.inf, means), place)[place]
    high = np.partition(np.where(empty, np.inf, means), len(means) - 1 - place)[len(means) - 1 - place]
    return float(low), float(high)


def _sets(changed: Floats, equal: int) -> tuple[Floats, Floats]:
    """Return the sums over sets of boards and the set sizes, each shape (sets,), including the empty set.

    Args:
        changed: differences that are not 0.
        equal: number of boards without a difference. They add nothing to a sum, so they are not enumerated: about half
            of them are counted into each set.
    """
    number = len(changed)
    tolerance = 1e-12 * float(np.abs(changed).sum())
    if number <= EXACT:
        columns = [np.arange(2**number) >> 8 * column & 255 for column in range(-(-number // 8))]
        counts = _binomial_quantiles(equal, max(_FEWEST_COUNTS, 2 ** (EXACT - number)))
        sums = np.repeat(_summed(changed, columns), len(counts))
        sizes = (_summed(np.ones(number), columns)[:, None] + counts).ravel()
    else:
        drawn, sizes = (_kept if number <= _MOST_KEPT else _drawn)(number, equal)
        sums, whole = _summed(changed, drawn), float(changed.sum())
        sums = np.concatenate([[0.0], sums, whole - sums, [whole]])
    sums[np.abs(sums) <= tolerance] = 0.0
    return sums, sizes


def _drawn(number: int, equal: int) -> tuple[list[NDArray[np.uint8]], Floats]:
    """Draw sets for `_summed`; also return the sizes of the empty set, these sets, their complements, and all."""
    random = np.random.default_rng(_SEED)
    columns = [random.integers(0, 256, DRAWN, dtype=np.uint8) for _ in range(-(-number // 8))]
    sizes = _summed(np.ones(number), columns) + (random.binomial(equal, 0.5, DRAWN) if equal else 0)
    whole = number + equal
    return columns, np.concatenate([[0.0], sizes, whole - sizes, [whole]])


_kept = lru_cache(maxsize=128)(_drawn)
"""`_drawn`, cached, since a comparison has many differences over equally many boards. Thousands would take memory."""


def _summed(values: Floats, columns: Sequence[NDArray[np.integer]]) -> Floats:
    """Sum over sets that are encoded as eight boards a byte, column by column: one look-up adds eight boards."""
    sums = np.zeros(1)
    for place, column in enumerate(columns):
        eight = values[8 * place : 8 * place + 8]
        sums = sums + (_BYTE[:, : len(eight)] @ eight)[column]
    return sums


def _binomial_quantiles(trials: int, most: int) -> NDArray[np.int64]:
    """Return head counts that represent the distribution over `trials` coins: all outcomes, or `most` quantiles."""
    number = min(2 ** min(trials, EXACT), most)
    quantiles = (np.arange(number) + 0.5) / number
    return np.asarray(np.searchsorted(binomial_cdf(trials), quantiles), dtype=np.int64)


def holm(p_values: Sequence[float], smallest: Sequence[float] | None = None) -> list[float]:
    """Adjust the p-values of one family so that the chance of any false finding stays below the level.

    The k-th smallest of m is multiplied by m - k + 1; none is smaller than the one before it, and none larger than 1
    (Holm 1979, A Simple Sequentially Rejective Multiple Test Procedure). Of these m - k + 1, only the tests that could
    have a p-value as small count: a test over three boards never falls below 0.25, so it does not contribute to the
    chance that some p-value falls to 0.01 (Tarone 1990, A Modified Bonferroni Method for Discrete Data; stepwise as in
    Hommel and Krummenauer 1998, Improvements and Modifications of Tarone's Multiple Test Procedure for Discrete Data).

    Args:
        p_values: p-values of the tests.
        smallest: the smallest possible p-value of each test; None: unlimited.
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

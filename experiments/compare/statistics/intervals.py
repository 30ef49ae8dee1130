"""A statistic over boards with its 95 % interval.

| statistic | interval |
|---|---|
| mean | Student's t with Efron's correction for skewness, in closed form: the ABC interval of DiCiccio and Efron 1992 (More Accurate Confidence Intervals in Exponential Families), which is x + s (a + z) / (1 - a (a + z))^2 for a mean, with s its standard error and a a sixth of its skewness. Its level allows for few boards (Hesterberg 2015, section 3.3); without skewness it is Student's |
| mean of shares | that of `bounded` |
| median | between order statistics, by the sign test (Conover 1999, Practical Nonparametric Statistics, section 3.2) |
| interquartile mean | that of `bootstrap` |

`benchmarks/intervals.py` measures how often they hold the truth.
"""  # noqa: E501 - a table

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from quorum.experiments.compare.statistics.aggregates import STATISTICS, Floats, Name, Numbers, agree, board_means
from quorum.experiments.compare.statistics.bootstrap import bootstrap_interval
from quorum.experiments.compare.statistics.bounded import bounded_mean_interval

TAIL = 0.025
"""Probability at each end of an interval."""
_NONE = (math.nan, math.nan)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic of some runs.

    Attributes:
        value: of the statistic; NaN over no runs.
        low: lower end of its 95 % interval; NaN where there is none: with fewer than two boards, of a median with fewer
            than six, and where all boards agree in a value that is no share.
        high: upper end.
        runs: number of runs.
        boards: number of boards that they met, over which the statistic is taken.
    """

    value: float
    low: float
    high: float
    runs: int
    boards: int


def estimate(
    values: Floats,
    statistic: Name = "mean",
    *,
    boards: Numbers | None = None,
    strata: Numbers | None = None,
    share: bool = False,
) -> Estimate:
    """Compute a statistic over boards and its 95 % interval.

    Args:
        values: one a run, shape (runs,), finite.
        statistic: which.
        boards: the board of each run, shape (runs,): a board counts once, with the mean of its runs. None: each run has
            its own.
        strata: the stratum of each run, shape (runs,): what strata differ in is no part of the interval. None: there is
            one. Where every stratum has one board they are taken as one, since nothing varies within them.
        share: whether a value lies between 0 and 1 by its nature.
    """
    runs = len(values)
    if runs == 0:
        return Estimate(math.nan, math.nan, math.nan, 0, 0)
    strata = np.zeros(runs, dtype=np.int64) if strata is None else strata
    means, strata = board_means(values, np.arange(runs) if boards is None else boards, strata)
    value = float(STATISTICS[statistic](means))
    return Estimate(value, *_interval(means, strata, statistic, share=share), runs, len(means))


def _interval(values: Floats, strata: Numbers, statistic: Name, *, share: bool) -> tuple[float, float]:
    if len(values) == 1:
        return _NONE
    if share and statistic == "mean":
        return bounded_mean_interval(values, TAIL)
    if agree(values):
        return _NONE
    if statistic == "median":
        return _median_interval(values)
    _, sizes = np.unique(strata, return_counts=True)
    parts = (len(values),) if len(sizes) == len(values) else tuple(sizes.tolist())
    ordered = values if len(parts) == 1 else values[np.argsort(strata, kind="stable")]
    freedom = len(values) - len(parts)
    reach = math.sqrt(len(values) / freedom) * t_quantile(1 - TAIL, freedom)
    return (_mean_interval if statistic == "mean" else bootstrap_interval)(ordered, parts, reach)


def _mean_interval(values: Floats, sizes: tuple[int, ...], reach: float) -> tuple[float, float]:
    centred = np.concatenate([part - part.mean() for part in np.split(values, np.cumsum(sizes)[:-1])])
    squares = float((centred**2).sum())
    mean = float(values.mean())
    if squares <= 1e-24 * mean**2:  # each stratum agrees with itself
        return _NONE
    error = math.sqrt(squares) / len(values)
    skewness = float(((centred / math.sqrt(squares)) ** 3).sum()) / 6  # scaled first: cubes of tiny values are 0
    shifts = [(skewness + end) / (1 - skewness * (skewness + end)) ** 2 for end in (-reach, reach)]
    return mean + error * shifts[0], mean + error * shifts[1]


def _median_interval(values: Floats) -> tuple[float, float]:
    """Return the k-th smallest and largest value for the largest k with P(fewer than k of n coins are heads) <= 2.5 %.

    Fewer than six values have none.
    """
    number = len(values)
    heads = np.arange(1, number + 1)
    logarithms = np.concatenate([[0.0], np.cumsum(np.log((number + 1 - heads) / heads))]) - number * math.log(2)
    place = int(np.searchsorted(np.cumsum(np.exp(logarithms)), TAIL, "right"))
    if place == 0:
        return _NONE
    ordered = np.sort(values)
    return float(ordered[place - 1]), float(ordered[-place])


def t_cdf(t: float, freedom: int) -> float:
    """Return P(T <= t), by the finite sums of Abramowitz and Stegun 1964, 26.7.3 and 26.7.4.

    Args:
        t: the point.
        freedom: degrees of freedom, at least 1.
    """
    angle = math.atan(t / math.sqrt(freedom))
    square = math.cos(angle) ** 2
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = term if freedom > 1 else 0.0
    for k in range(2 + odd, freedom - 1, 2):
        term *= square * (k - 1) / k
        total += term
    inside = math.sin(angle) * total
    within = 2 / math.pi * (angle + inside) if odd else inside
    return 0.5 + within / 2


@cache
def t_quantile(share: float, freedom: int) -> float:
    """Return t with P(T <= t) = share, to 12 digits.

    Args:
        share: strictly between 0 and 1.
        freedom: degrees of freedom, at least 1.
    """
    if share < 0.5:
        return -t_quantile(1 - share, freedom)
    low, high = 0.0, 1.0
    while t_cdf(high, freedom) < share:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if t_cdf(middle, freedom) < share else (low, middle)
    return (low + high) / 2

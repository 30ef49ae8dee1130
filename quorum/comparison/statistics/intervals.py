"""Statistics over boards with their 95 % intervals, and the probability of improvement.

| statistic | interval |
|---|---|
| mean | Student's t with Efron's correction for skewness, in closed form: the ABC interval of DiCiccio and Efron 1992 (More Accurate Confidence Intervals in Exponential Families), which is x + s (a + z) / (1 - a (a + z))^2 for a mean, with s its standard error and a a sixth of its skewness. Its level allows for few boards (Hesterberg 2015, section 3.3); without skewness it is Student's |
| mean between 0 and a limit | Student's t of the mean's log odds, ln(x / (limit - x)), whose standard error is s / (x (1 - x / limit)) by the delta method: the logit interval of Brown, Cai and DasGupta 2001 (Interval Estimation for a Binomial Proportion, section 4.2), with the sample's own s. It lies within the bounds however few the boards, and leans away from the nearer one |
| mean of shares | that of `bounded` |
| median | between order statistics, by the sign test (Conover 1999, Practical Nonparametric Statistics, section 3.2) |
| interquartile mean | the bias-corrected and accelerated bootstrap (Efron 1987), drawn within strata, at a level that allows for few boards: a bootstrap interval is too narrow by the factor sqrt((n - 1) / n) and by using normal quantiles instead of Student's, so its level is widened from 0.025 to Phi(sqrt(n / (n - 1)) t_{0.025, n - 1}) (Hesterberg 2015, section 3.3) |

`benchmarks/intervals.py` measures how often they contain the true value.
"""  # noqa: E501 - a table

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from quorum.comparison.statistics.bounded import bounded_mean_interval

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Name = Literal["mean", "median", "iqm"]
Statistic = Callable[[Floats], Floats]
"""Maps values, shape (..., runs), to one value each, shape (...)."""


def mean(values: Floats) -> Floats:
    """Return the arithmetic mean over the last axis."""
    return np.asarray(values.mean(axis=-1))


def median(values: Floats) -> Floats:
    """Return the median over the last axis; for an even number of values the mean of the middle two."""
    runs = values.shape[-1]
    return mean(np.sort(values, axis=-1)[..., (runs - 1) // 2 : runs // 2 + 1])


def interquartile_mean(values: Floats) -> Floats:
    """Return the mean of the middle half over the last axis.

    A quarter of the values, rounded down, is dropped at each end (Agarwal et al. 2021, section 4.1): fewer than 4
    values lose none.
    """
    runs = values.shape[-1]
    cut = runs // 4
    return mean(np.sort(values, axis=-1)[..., cut : runs - cut])


def agree(values: Floats) -> bool:
    """Whether all values are equal, up to rounding."""
    return float(np.ptp(values)) <= 1e-12 * float(np.abs(values).max())


STATISTICS: Mapping[Name, Statistic] = {"mean": mean, "median": median, "iqm": interquartile_mean}
"""Every statistic by name."""


def board_means(values: Floats, boards: Numbers, strata: Numbers) -> tuple[Floats, Numbers]:
    """Average runs within boards: first those of one stratum, then over the strata of the board.

    Args:
        values: one per run, shape (runs,).
        boards: the board of each run, shape (runs,).
        strata: the stratum of each run, shape (runs,).

    Returns:
        The mean of each board, shape (boards,), and the stratum of each board: the stratum of its runs if every board
        has runs of only one stratum. Else 0 for all, since differences between strata are then not differences between
        boards.
    """
    cells, cell_of = np.unique(np.stack([boards, strata]), axis=1, return_inverse=True)
    cell_means = _means(values, cell_of.ravel())
    own, board_of = np.unique(cells[0], return_inverse=True)
    single = len(own) == cells.shape[1]
    return _means(cell_means, board_of), cells[1] if single else np.zeros(len(own), dtype=np.int64)


def binomial_cdf(trials: int) -> Floats:
    """Return P(at most k of `trials` coins are heads) for each k, shape (trials + 1,)."""
    heads = np.arange(1, trials + 1)
    logarithms = np.concatenate([[0.0], np.cumsum(np.log((trials + 1 - heads) / heads))]) - trials * math.log(2)
    return np.asarray(np.cumsum(np.exp(logarithms)))


def _means(values: Floats, groups: Numbers) -> Floats:
    return np.bincount(groups, weights=values) / np.bincount(groups)


def share_greater(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the share of pairs of values in which the first is greater; ties count half (Mann and Whitney 1947).

    Its mean over boards is the probability of improvement (Agarwal et al. 2021, section 4.3, with a board as a task).

    Args:
        x: values of one arm on a board, not empty.
        y: values of the other arm, not empty.
    """
    return sum((a > b) + (a == b) / 2 for a in x for b in y) / (len(x) * len(y))


TAIL = 0.025
"""Probability at each end of an interval."""
_NONE = (math.nan, math.nan)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic of some runs.

    Attributes:
        value: value of the statistic; NaN over no runs.
        low: lower end of its 95 % interval; NaN if there is none: with fewer than two boards, for a median with fewer
            than six, and if all boards agree in a value that is not a share.
        high: upper end.
        runs: number of runs.
        boards: number of boards of these runs, over which the statistic is taken.
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
    limit: float | None = None,
) -> Estimate:
    """Compute a statistic over boards and its 95 % interval.

    Args:
        values: one per run, shape (runs,), finite.
        statistic: the name of the statistic.
        boards: the board of each run, shape (runs,): a board counts once, with the mean of its runs. None: each run is
            a board.
        strata: the stratum of each run, shape (runs,): the interval excludes differences between strata. None: one
            stratum. If every stratum has one board, they count as one stratum, since nothing varies within them.
        share: whether values always lie between 0 and 1.
        limit: the largest possible value, if none is below 0; None: no limit.
    """
    runs = len(values)
    if runs == 0:
        return Estimate(math.nan, math.nan, math.nan, 0, 0)
    strata = np.zeros(runs, dtype=np.int64) if strata is None else strata
    means, strata = board_means(values, np.arange(runs) if boards is None else boards, strata)
    value = float(STATISTICS[statistic](means))
    return Estimate(value, *_interval(means, strata, statistic, share=share, limit=limit), runs, len(means))


def _interval(
    values: Floats, strata: Numbers, statistic: Name, *, share: bool, limit: float | None
) -> tuple[float, float]:
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
    if statistic == "mean":
        return _mean_interval(ordered, parts, reach, limit)
    return _bootstrap_interval(ordered, parts, reach)


def _mean_interval(values: Floats, sizes: tuple[int, ...], reach: float, limit: float | None) -> tuple[float, float]:
    centred = np.concatenate([part - part.mean() for part in np.split(values, np.cumsum(sizes)[:-1])])
    squares = float((centred**2).sum())
    mean = float(values.mean())
    if squares <= 1e-24 * mean**2:  # each stratum agrees internally
        return _NONE
    error = math.sqrt(squares) / len(values)
    if limit is not None:
        middle, spread = math.log(mean / (limit - mean)), reach * error / (mean * (1 - mean / limit))
        low, high = (limit * (1 + math.tanh(end / 2)) / 2 for end in (middle - spread, middle + spread))
        return low, high
    skewness = float(((centred / math.sqrt(squares)) ** 3).sum()) / 6  # scaled first: cubes of tiny values are 0
    shifts = [(skewness + end) / (1 - skewness * (skewness + end)) ** 2 for end in (-reach, reach)]
    return mean + error * shifts[0], mean + error * shifts[1]


def _median_interval(values: Floats) -> tuple[float, float]:
    """Return the k-th smallest and largest value for the largest k with P(fewer than k of n coins are heads) <= 2.5 %.

    Fewer than six values have no interval.
    """
    place = int(np.searchsorted(binomial_cdf(len(values)), TAIL, "right"))
    if place == 0:
        return _NONE
    ordered = np.sort(values)
    return float(ordered[place - 1]), float(ordered[-place])


RESAMPLES = 5_000
_NORMAL = NormalDist()
_SEED = 20_260_301
"""Seed of the resamples, fixed so that figures are reproducible."""
BLOCK = 1 << 18
"""Number of values drawn at a time: as many as fit in a processor's cache."""


def _bootstrap_interval(values: Floats, sizes: tuple[int, ...], reach: float) -> tuple[float, float]:
    """Return both ends of the interval of the interquartile mean.

    Args:
        values: stratum by stratum, shape (boards,).
        sizes: number of boards in each stratum.
        reach: normal quantile of the upper end: 1.96 for very many boards.
    """
    value = float(interquartile_mean(values))
    draws = np.sort(_draws(values, sizes))
    below = float(np.searchsorted(draws, value, "left") + np.searchsorted(draws, value, "right")) / (2 * len(draws))
    margin = 1 / len(draws)
    bias = _NORMAL.inv_cdf(min(max(below, margin), 1 - margin))
    acceleration = _acceleration(values, sizes)
    low, high = np.quantile(draws, [_corrected(end, bias, acceleration) for end in (-reach, reach)])
    return float(low), float(high)


def _corrected(end: float, bias: float, acceleration: float) -> float:
    """Return the share of the draws below an end of the interval (Efron 1987, equation 2.3)."""
    shifted = bias + end
    scale = 1 - acceleration * shifted
    if scale <= 0:  # too few and too skewed for the correction: the end is the outermost draw
        return 0.0 if end < 0 else 1.0
    return _NORMAL.cdf(bias + shifted / scale)


def _acceleration(values: Floats, sizes: tuple[int, ...]) -> float:
    """Return a sixth of the skewness of the jackknife values, centred within strata."""
    without = _leave_one_out(values)
    parts = np.split(without, np.cumsum(sizes)[:-1])
    influence = np.concatenate([part.mean() - part for part in parts])
    spread = float((influence**2).sum())
    return float((influence**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0


def _leave_one_out(values: Floats) -> Floats:
    """Return the interquartile mean without each of the values, shape (boards,), from sums over the sorted values.

    Without the value of rank r, the values from rank `cut` on are the same as before up to r, and shifted by one after
    it.
    """
    left = len(values) - 1
    cut = left // 4
    order = np.argsort(values, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(values[order])])
    ranks = np.arange(len(values))
    first, last = cut + (ranks < cut), left - cut + (ranks < left - cut)
    inside = np.where((ranks >= first) & (ranks < last), values[order], 0.0)
    without = np.empty(len(values))
    without[order] = (sums[last] - sums[first] - inside) / (left - 2 * cut)
    return without


def _draws(values: Floats, sizes: tuple[int, ...]) -> Floats:
    """Return the statistic of each resample, shape (RESAMPLES,), drawn in blocks to save memory.

    The number of times that each value is drawn, in the order of the values, gives its count in the middle half: no
    resample needs sorting.
    """
    random = np.random.default_rng(_SEED)
    boards = len(values)
    cut = boards // 4
    order = np.argsort(values, kind="stable")
    rank = np.argsort(order)
    members = np.split(rank, np.cumsum(sizes)[:-1])
    rows = max(1, BLOCK // boards)
    blocks = []
    for begin in range(0, RESAMPLES, rows):
        number = min(rows, RESAMPLES - begin)
        drawn = np.concatenate([own[random.integers(0, len(own), (number, len(own)))] for own in members], axis=1)
        drawn += boards * np.arange(number)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=number * boards).reshape(number, boards)
        inside = np.diff(np.clip(counts.cumsum(axis=1), cut, boards - cut), axis=1, prepend=cut)
        blocks.append(inside @ values[order] / (boards - 2 * cut))
    return np.concatenate(blocks)


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

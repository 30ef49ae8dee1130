"""Interval of the interquartile mean: the bias-corrected and accelerated bootstrap (Efron 1987).

It is drawn within strata, at a level that allows for few boards (Hesterberg 2015, section 3.3): a bootstrap interval is
too narrow by the factor sqrt((n - 1) / n) and by normal instead of Student's quantiles, so its level is widened from
0.025 to Phi(sqrt(n / (n - 1)) t_{0.025, n - 1}).
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from quorum.experiments.compare.statistics.aggregates import Floats, interquartile_mean

RESAMPLES = 5_000
_NORMAL = NormalDist()
_SEED = 20_260_301
"""Of the resamples: a fixed number, so that a figure can be made again."""
_BLOCK = 1 << 18
"""Values that are drawn at a time: as many as a processor keeps near."""


def bootstrap_interval(values: Floats, sizes: tuple[int, ...], reach: float) -> tuple[float, float]:
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
    if scale <= 0:  # so few and so skewed that the correction has no meaning: the end is the outermost draw
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
    """Return the interquartile mean without each of the values, shape (boards,), from sums over the sorted ones.

    Without the value of rank r, what is left from rank `cut` on is the same as before up to r, and one further behind.
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
    """Return the statistic of each resample, shape (RESAMPLES,), drawn a block at a time to spare memory.

    How often each value is drawn, in the order of the values, says how many of it are in the middle half: nothing needs
    to be sorted again.
    """
    random = np.random.default_rng(_SEED)
    boards = len(values)
    cut = boards // 4
    order = np.argsort(values, kind="stable")
    rank = np.argsort(order)
    members = np.split(rank, np.cumsum(sizes)[:-1])
    rows = max(1, _BLOCK // boards)
    blocks = []
    for begin in range(0, RESAMPLES, rows):
        number = min(rows, RESAMPLES - begin)
        drawn = np.concatenate([own[random.integers(0, len(own), (number, len(own)))] for own in members], axis=1)
        drawn += boards * np.arange(number)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=number * boards).reshape(number, boards)
        inside = np.diff(np.clip(counts.cumsum(axis=1), cut, boards - cut), axis=1, prepend=cut)
        blocks.append(inside @ values[order] / (boards - 2 * cut))
    return np.concatenate(blocks)

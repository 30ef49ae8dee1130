"""A statistic with its 95 % interval.

The interval is the bias-corrected and accelerated bootstrap (Efron 1987), drawn within strata, at a level that allows
for few runs (Hesterberg 2015, section 3.3): a bootstrap interval is too narrow by the factor sqrt((n - 1) / n) and by
normal instead of Student's quantiles, so its level is widened from 0.025 to Phi(sqrt(n / (n - 1)) t_{0.025, n - 1}).
The plain percentile interval covers the mean of 20 exponential values in 89 % of the cases, this one in 93 %;
`tests/experiments/compare/test_coverage.py` measures its coverage. The mean of shares that are all 0 or 1 has
Wilson's interval, which has a width even when all runs agree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from quorum.experiments.compare.statistics.aggregates import STATISTICS, Floats, Name, Statistic
from quorum.experiments.compare.statistics.student import t_quantile

CONFIDENCE = 0.95
RESAMPLES = 5_000
_NORMAL = NormalDist()
_TAIL = (1 - CONFIDENCE) / 2
_SEED = 20_260_301
"""Of the resamples: a fixed number, so that a figure can be made again."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic of some runs.

    Attributes:
        value: of the statistic; NaN over no runs.
        low: lower end of its 95 % interval; NaN with fewer than two runs.
        high: upper end.
        runs: number of values.
    """

    value: float
    low: float
    high: float
    runs: int


def estimate(
    values: Floats, strata: NDArray[np.int64] | None = None, statistic: Name = "mean", *, share: bool = False
) -> Estimate:
    """Compute a statistic and its 95 % interval.

    Args:
        values: one a run, shape (runs,), finite.
        strata: the stratum of each run, shape (runs,): runs are resampled within it. None: there is one. Where every
            stratum has one run they are taken as one, since nothing could be resampled within them.
        statistic: which.
        share: whether a value lies between 0 and 1 by its nature: a mean of zeros and ones then has Wilson's interval.
    """
    runs = len(values)
    function = STATISTICS[statistic]
    if runs == 0:
        return Estimate(math.nan, math.nan, math.nan, 0)
    value = float(function(values))
    if runs == 1:
        return Estimate(value, math.nan, math.nan, 1)
    if share and statistic == "mean" and bool(np.isin(values, (0.0, 1.0)).all()):
        return Estimate(value, *_wilson(value, runs), runs)
    if float(np.ptp(values)) == 0:
        return Estimate(value, value, value, runs)
    ordered, sizes = _by_stratum(values, strata)
    return Estimate(value, *_bootstrap(ordered, sizes, function, value), runs)


def _wilson(share: float, runs: int) -> tuple[float, float]:
    z = _NORMAL.inv_cdf(1 - _TAIL)
    scale = 1 + z * z / runs
    centre = (share + z * z / (2 * runs)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    return max(0.0, centre - half), min(1.0, centre + half)


def _by_stratum(values: Floats, strata: NDArray[np.int64] | None) -> tuple[Floats, tuple[int, ...]]:
    """Return the values stratum by stratum, and how many there are in each."""
    if strata is None:
        return values, (len(values),)
    _, sizes = np.unique(strata, return_counts=True)
    if len(sizes) == len(values):
        return values, (len(values),)
    return values[np.argsort(strata, kind="stable")], tuple(sizes.tolist())


def _bootstrap(values: Floats, sizes: tuple[int, ...], function: Statistic, value: float) -> tuple[float, float]:
    draws = np.sort(function(values[_resamples(sizes)]))
    below = float(np.searchsorted(draws, value, "left") + np.searchsorted(draws, value, "right")) / (2 * len(draws))
    margin = 1 / len(draws)
    bias = _NORMAL.inv_cdf(min(max(below, margin), 1 - margin))
    acceleration = _acceleration(values, sizes, function)
    widest = _level(sum(sizes), len(sizes))
    low, high = (_corrected(end, bias, acceleration) for end in (widest, -widest))
    ends = np.quantile(draws, (low, high))
    return float(ends[0]), float(ends[1])


def _level(runs: int, strata: int) -> float:
    """Return the normal quantile of the lower end: -1.96 for very many runs."""
    freedom = runs - strata
    return math.sqrt(runs / freedom) * t_quantile(_TAIL, freedom)


def _corrected(end: float, bias: float, acceleration: float) -> float:
    """Return the share of the draws below an end of the interval (Efron 1987, equation 2.3)."""
    shifted = bias + end
    scale = 1 - acceleration * shifted
    if scale <= 0:  # so few and so skewed that the correction has no meaning: the end is the outermost draw
        return 0.0 if end < 0 else 1.0
    return _NORMAL.cdf(bias + shifted / scale)


def _acceleration(values: Floats, sizes: tuple[int, ...], function: Statistic) -> float:
    """Return a sixth of the skewness of the jackknife values, centred within strata."""
    runs = len(values)
    left = ~np.eye(runs, dtype=bool)
    without = function(np.broadcast_to(values, (runs, runs))[left].reshape(runs, runs - 1))
    parts = np.split(without, np.cumsum(sizes)[:-1])
    influence = np.concatenate([part.mean() - part for part in parts])
    spread = float((influence**2).sum())
    return float((influence**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0


@lru_cache(maxsize=32)
def _resamples(sizes: tuple[int, ...]) -> NDArray[np.int64]:
    """Draw within strata: return indices, shape (RESAMPLES, runs). Equal sizes share their draws."""
    random = np.random.default_rng(_SEED)
    starts = np.cumsum((0, *sizes[:-1]))
    drawn = [start + random.integers(0, size, (RESAMPLES, size)) for start, size in zip(starts, sizes, strict=True)]
    return np.concatenate(drawn, axis=1)

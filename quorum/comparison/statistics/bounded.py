"""Interval of the mean of values between 0 and 1, for any distribution.

The lower bound is Gaffke's (2005, Three test statistics for a nonparametric one-sided hypothesis on the mean of a
nonnegative variable), which Learned-Miller and Thomas (2019, A New Confidence Interval for the Mean of a Bounded Random
Variable) found independently. Add one observation of 0 to the n values, and weight the n + 1 observations at random,
uniformly over all sets of weights (Dirichlet distribution with parameters 1). The bound is the 2.5 % quantile of the
weighted mean. The upper bound is the same from the other side, with an observation of 1.

- For zeros and ones it is the interval of Clopper and Pearson (1934, The Use of Confidence or Fiducial Limits).
- A weighted mean falls when a value falls, whatever the weights. So neither end rises when a result gets worse.
- Coverage of at least 95 % is proven for zeros and ones. For all other distributions these authors conjecture it,
  without a counter-example; `benchmarks/intervals.py` measures it.

The quantile is computed, not sampled. With weights in proportion to exponential variables G, the weighted mean is at
most t exactly if sum(G_i (x_i - t)) <= 0. The probability of that is an integral over the characteristic function,
taken along a line through its saddle point, where the trapezoidal rule converges exponentially (Trefethen and Weideman
2014, The Exponentially Convergent Trapezoidal Rule).
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_NORMAL = NormalDist()
_STEP = 0.1
"""Step of the trapezoidal rule; the position on the line is the hyperbolic sine of the integration variable."""
_BLOCK = 1 << 20
"""Maximum number of products of nodes and values in memory at once."""
_NEGLIGIBLE = 1e-15
"""The integral ends where the integrand has fallen to this share of its height at the saddle point."""
_PRECISION = 1e-11


def bounded_mean_interval(values: Floats, tail: float) -> tuple[float, float]:
    """Return both ends of the interval of a mean.

    Args:
        values: from 0 to 1, shape (values,), at least one.
        tail: probability at each end, 0.025 for an interval of 95 %.
    """
    return _lower(values, tail), 1 - _lower(1 - values, tail)


def _lower(values: Floats, tail: float) -> float:
    largest = float(values.max())
    if largest == 0:
        return 0.0
    points, counts = np.unique(np.append(values / largest, 0.0), return_counts=True)
    return largest * _quantile(points.tobytes(), counts.astype(np.float64).tobytes(), tail)


@lru_cache(maxsize=4096)  # values are often the same few shares, equally often
def _quantile(values: bytes, numbers: bytes, tail: float) -> float:
    """Return the quantile of the weighted mean of values from 0 to 1, given with their counts."""
    points, weights = np.frombuffer(values), np.frombuffer(numbers)
    total = weights.sum()
    mean = float(points @ weights / total)
    spread = math.sqrt(float((points - mean) ** 2 @ weights / total) / (total + 1))
    wanted = _NORMAL.inv_cdf(tail)
    low, high = 0.0, 1.0
    place, slope = mean + wanted * spread, 1 / spread
    before: tuple[float, float] | None = None
    while True:
        place = place if low < place < high else (low + high) / 2
        excess = _normal_score(points - place, weights) - wanted
        low, high = (low, place) if excess > 0 else (place, high)
        if before is not None and before[0] != place:
            slope = max((before[1] - excess) / (before[0] - place), slope / 10)
        before = place, excess
        if min(abs(excess) / slope, high - low) < _PRECISION * place:
            return place
        # The score of a nearly normal variable is nearly a straight line: the secant method needs few steps.
        place -= excess / slope


def _normal_score(distances: Floats, weights: Floats) -> float:
    """Return the normal quantile of P(sum of gamma variables times distances <= 0), to double precision."""
    return _NORMAL.inv_cdf(min(max(_probability_below(distances, weights), 1e-300), 1 - 1e-15))


def _probability_below(distances: Floats, weights: Floats) -> float:
    """Return P(sum_i G_i distances_i <= 0), where G_i are gamma variables with shapes `weights`.

    Args:
        distances: ascending, some below 0 and some above.
        weights: how often each counts.
    """
    saddle = _saddle(distances, weights)
    ratios = distances / (1 - saddle * distances)
    second = float(weights @ ratios**2) + 1 / saddle**2
    third = 2 * float(weights @ ratios**3) - 2 / saddle**3
    scale, bend = 1 / math.sqrt(second), third / (3 * second**1.5)

    def height(nodes: Floats) -> NDArray[np.complex128]:
        points = saddle + scale * (1j * np.sinh(nodes) + bend * (np.cosh(nodes) - 1))
        velocities = scale * (1j * np.cosh(nodes) + bend * np.sinh(nodes))
        size = max(1, _BLOCK // len(distances))
        blocks = (points[start : start + size] for start in range(0, len(points), size))
        logarithms = np.concatenate([np.log1p(-block[:, None] * distances) @ weights for block in blocks])
        return np.asarray(np.exp(-logarithms) * velocities / -points)

    reach = 2.0
    start, end = np.abs(height(np.array([0.0, reach])))
    while end > _NEGLIGIBLE * start:
        reach *= 1.25
        end = np.abs(height(np.array([reach])))[0]
    heights = height(np.arange(0, reach, _STEP)).imag
    return float((heights.sum() - heights[0] / 2) * _STEP / math.pi)


def _saddle(distances: Floats, weights: Floats) -> float:
    """Return where exp(K(s)) / -s is least for s below 0, with K the logarithm of the moment generating function.

    A few digits suffice: the integral is the same along every line, but converges fastest along this one.
    """
    low, high = 1 / float(distances[0]), 0.0
    place = low / 2
    for _ in range(60):
        ratios = distances / (1 - place * distances)
        slope = float(weights @ ratios) - 1 / place
        low, high = (low, place) if slope > 0 else (place, high)
        newton = place - slope / (float(weights @ ratios**2) + 1 / place**2)
        following = newton if low < newton < high else (low + high) / 2
        if abs(following - place) < 1e-6 * abs(place):
            return following
        place = following
    return place

"""Growth with the size of a team: a power law, fitted to the logarithms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quorum.comparison.statistics.intervals import TAIL, Estimate, t_quantile

FEWEST_SIZES = 3


@dataclass(frozen=True, slots=True)
class Growth:
    """Values in proportion to a power of n: factor * n ** exponent.

    Attributes:
        factor: the value at n = 1, with its 95 % interval.
        exponent: the power, with its 95 % interval.
        explained: share of the variance of the logarithms that the fit explains, R squared; NaN if the values are
            equal.
    """

    factor: Estimate
    exponent: Estimate
    explained: float


def power_law(sizes: Sequence[int], values: Sequence[float]) -> Growth | None:
    """Fit a power law by least squares of the logarithms, with Student's intervals of a straight line.

    Args:
        sizes: n, positive.
        values: positive, one for each size.

    Returns:
        None over fewer than three sizes.
    """
    if len(sizes) < FEWEST_SIZES:
        return None
    number = len(sizes)
    x, y = np.log(np.array(sizes, dtype=np.float64)), np.log(np.array(values, dtype=np.float64))
    centre, level = float(x.mean()), float(y.mean())
    x, y = x - centre, y - level
    spread, variance = float(x @ x), float(y @ y)
    slope = float(x @ y) / spread
    rest = float(((y - slope * x) ** 2).sum())
    error = math.sqrt(rest / (number - 2))
    reach = t_quantile(1 - TAIL, number - 2) * error
    at_one, around = level - slope * centre, reach * math.sqrt(1 / number + centre**2 / spread)
    steep = reach / math.sqrt(spread)
    return Growth(
        Estimate(math.exp(at_one), math.exp(at_one - around), math.exp(at_one + around), number, number),
        Estimate(slope, slope - steep, slope + steep, number, number),
        1 - rest / variance if variance else math.nan,
    )

"""How many values become one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Name = Literal["mean", "median", "iqm"]
Statistic = Callable[[Floats], Floats]
"""From values, shape (..., runs), to one value each, shape (...)."""


def mean(values: Floats) -> Floats:
    """Return the arithmetic mean over the last axis."""
    return np.asarray(values.mean(axis=-1))


def median(values: Floats) -> Floats:
    """Return the median over the last axis; of an even number of values the mean of the middle two."""
    runs = values.shape[-1]
    return mean(np.sort(values, axis=-1)[..., (runs - 1) // 2 : runs // 2 + 1])


def interquartile_mean(values: Floats) -> Floats:
    """Return the mean of the middle half over the last axis.

    A quarter of the values, rounded down, is left out at each end (Agarwal et al. 2021, section 4.1): fewer than 4
    values lose none.
    """
    runs = values.shape[-1]
    cut = runs // 4
    return mean(np.sort(values, axis=-1)[..., cut : runs - cut])


def agree(values: Floats) -> bool:
    """Whether all values are the same, but for the rounding of the means that they are."""
    return float(np.ptp(values)) <= 1e-12 * float(np.abs(values).max())


STATISTICS: Mapping[Name, Statistic] = {"mean": mean, "median": median, "iqm": interquartile_mean}
"""Every statistic by name."""

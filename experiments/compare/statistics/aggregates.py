"""How many values become one: boards, statistics of them, and the probability of improvement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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


Numbers = NDArray[np.int64]


def board_means(values: Floats, boards: Numbers, strata: Numbers) -> tuple[Floats, Numbers]:
    """Average runs within boards: first those of one stratum, then over the strata of the board.

    Args:
        values: one a run, shape (runs,).
        boards: the board of each run, shape (runs,).
        strata: the stratum of each run, shape (runs,).

    Returns:
        The mean of each board, shape (boards,), and the stratum of each: that of its runs where every board has runs of
        one stratum only, else 0 for all, since what strata differ in is then no part of what boards differ in.
    """
    cells, cell_of = np.unique(np.stack([boards, strata]), axis=1, return_inverse=True)
    cell_means = _means(values, cell_of.ravel())
    own, board_of = np.unique(cells[0], return_inverse=True)
    single = len(own) == cells.shape[1]
    return _means(cell_means, board_of), cells[1] if single else np.zeros(len(own), dtype=np.int64)


def _means(values: Floats, groups: Numbers) -> Floats:
    return np.bincount(groups, weights=values) / np.bincount(groups)


def share_greater(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the share of pairs of values in which the first is greater, ties half (Mann and Whitney 1947).

    Its mean over boards is the probability of improvement (Agarwal et al. 2021, section 4.3, with a board as a task).

    Args:
        x: values of one arm on a board, none empty.
        y: those of the other.
    """
    return sum((a > b) + (a == b) / 2 for a in x for b in y) / (len(x) * len(y))

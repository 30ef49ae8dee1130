"""Runs to boards: the unit of every interval and test.

Runs of one seed meet the same board, or boards that are made by the same draws, so they say less than as many runs on
boards of their own: they are a cluster (Miller 2024, Adding Error Bars to Evals, section 2.2). Counted one by one they
make intervals too narrow and p-values too small. So runs are averaged within their board, and boards are what varies.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from quorum.experiments.compare.statistics.aggregates import Floats

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

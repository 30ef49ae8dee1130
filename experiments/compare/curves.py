"""How the score moves along the steps of the episodes, as their traces tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from maeil.errors import MaeilError
from maeil.metrics.outcome import scores
from maeil.trace import read_trace
from maeil.user_errors import UserError
from quorum.experiments.compare.statistics import Estimate, estimate
from quorum.experiments.compare.statistics.aggregates import Floats, Name

POINTS = 60
"""Instants of a curve, at most."""


@dataclass(frozen=True, slots=True)
class Curve:
    """The score of some runs along their steps.

    Attributes:
        steps: environment steps, ascending.
        estimates: of the score after each of them, over all runs: one that has ended keeps its last score.
    """

    steps: tuple[int, ...]
    estimates: tuple[Estimate, ...]


def curve(folders: Sequence[Path], boards: NDArray[np.int64], strata: NDArray[np.int64], statistic: Name) -> Curve:
    """Read the curve of some runs.

    Args:
        folders: of the runs.
        boards: number of the board of each run, shape (runs,).
        strata: number of the stratum of each run, shape (runs,).
        statistic: over the boards.

    Raises:
        UserError: a trace is not there, or cannot be read.
    """
    read = [_read(folder) for folder in folders]
    longest = max(map(len, read)) - 1
    steps = np.unique(np.linspace(0, longest, POINTS).round().astype(np.int64))
    after = np.array([own[np.minimum(steps, len(own) - 1)] for own in read])
    return Curve(
        tuple(steps.tolist()), tuple(estimate(column, statistic, boards=boards, strata=strata) for column in after.T)
    )


def _read(folder: Path) -> Floats:
    """Return the score before the first step and after each, shape (steps + 1,)."""
    try:
        trace = read_trace(folder)
    except (MaeilError, OSError) as error:
        raise UserError(f"--curves: {error}", "Leave --curves out, or run the cell again.") from error
    return np.array(scores(trace))

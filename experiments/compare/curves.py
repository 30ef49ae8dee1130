"""How the score moves along the steps of the episodes, as their traces tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.errors import UserError
from experiments.statistics import Estimate, estimate
from experiments.statistics.aggregates import Floats, Name
from maeil.errors import MaeilError
from maeil.trace import read_trace
from maeil.trace.events import ScoreChange, StepTaken

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


def curve(folders: Sequence[Path], strata: NDArray[np.int64], statistic: Name) -> Curve:
    """Read the curve of some runs.

    Args:
        folders: of the runs.
        strata: number of the stratum of each run, shape (runs,).
        statistic: over the runs.

    Raises:
        UserError: a trace is not there, or cannot be read.
    """
    scores = [_scores(folder) for folder in folders]
    longest = max(map(len, scores)) - 1
    steps = np.unique(np.linspace(0, longest, POINTS).round().astype(np.int64))
    after = np.array([own[np.minimum(steps, len(own) - 1)] for own in scores])
    return Curve(tuple(steps.tolist()), tuple(estimate(column, strata, statistic) for column in after.T))


def _scores(folder: Path) -> Floats:
    """Give the score before the first step, 0 where none is told, and after each, shape (steps + 1,)."""
    try:
        trace = read_trace(folder)
    except (MaeilError, OSError) as error:
        raise UserError(f"--curves: {error}", "Leave --curves out, or run the cell again.") from error
    scores = np.full(len(trace.stamped(StepTaken)) + 1, np.nan)
    scores[0] = 0.0
    for stamped in trace.stamped(ScoreChange):
        assert isinstance(stamped.event, ScoreChange)
        scores[stamped.t] = stamped.event.score
    known = np.maximum.accumulate(np.where(np.isnan(scores), 0, np.arange(len(scores))))
    return scores[known]

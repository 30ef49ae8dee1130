"""How the score moves along the steps of the episodes, as their traces tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from maeil.metrics.outcome import scores
from quorum.experiments.common.run_files import DamagedFile
from quorum.experiments.compare.statistics import Estimate, estimate
from quorum.experiments.compare.statistics.aggregates import Floats, Name
from quorum.experiments.results.run_folder import RunFolder

POINTS = 60
"""Instants of a curve, at most."""


@dataclass(frozen=True, slots=True)
class Curve:
    """The score of some runs along their steps.

    Attributes:
        steps: environment steps, ascending; none where no run has a whole trace.
        estimates: of the score after each of them, over all runs: one that has ended keeps its last score.
        left_out: the runs whose trace is not whole, each with the reason: half an episode is no curve.
    """

    steps: tuple[int, ...]
    estimates: tuple[Estimate, ...]
    left_out: tuple[str, ...] = ()


def curve(folders: Sequence[Path], boards: NDArray[np.int64], strata: NDArray[np.int64], statistic: Name) -> Curve:
    """Read the curve of some runs.

    Args:
        folders: of the runs.
        boards: number of the board of each run, shape (runs,).
        strata: number of the stratum of each run, shape (runs,).
        statistic: over the boards.
    """
    read: list[Floats] = []
    kept: list[int] = []
    left_out: list[str] = []
    for place, folder in enumerate(folders):
        try:
            read.append(_read(folder))
            kept.append(place)
        except DamagedFile as error:
            left_out.append(f"{folder.name}: {error.brief}")
    if not read:
        return Curve((), (), tuple(left_out))
    longest = max(map(len, read)) - 1
    steps = np.unique(np.linspace(0, longest, POINTS).round().astype(np.int64))
    after = np.array([own[np.minimum(steps, len(own) - 1)] for own in read])
    estimates = tuple(estimate(column, statistic, boards=boards[kept], strata=strata[kept]) for column in after.T)
    return Curve(tuple(steps.tolist()), estimates, tuple(left_out))


def _read(folder: Path) -> Floats:
    """Return the score before the first step and after each, shape (steps + 1,).

    Raises:
        DamagedFile: the trace is not whole.
    """
    return np.array(scores(RunFolder(folder).whole_trace()))

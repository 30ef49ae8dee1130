"""Differences from a baseline over the same boards."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from maeil.metrics import Metric
from quorum.comparison.statistics.flips import holm, sign_flip_interval, sign_flip_test, smallest_p
from quorum.comparison.statistics.intervals import Estimate, Floats, estimate, share_greater
from quorum.configuration.origin import Scalar

Cell = tuple[Scalar, ...]
"""A seed with the values of the crossed factors. A seed is a board, and a board may have several cells."""
Cells = Mapping[Cell, Sequence[float]]
"""The values of the runs of each cell."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of a level from the baseline in one metric.

    Attributes:
        metric: its name.
        level: the level.
        point: the value of `across`; None without it.
        mean: mean difference over boards, level - baseline, with the interval that matches the test: it contains 0
            exactly if p is above 0.05. There is none if no board differs, or over fewer than six boards.
        deviation: standard deviation of the differences over boards; NaN over fewer than two.
        differing: number of boards on which the two differ.
        unpaired: number of cells that only one of the two has.
        p: p-value of the sign-flip test; NaN over no boards.
        p_holm: p after Holm's correction over all differences of the metric that could be significant.
        improvement: probability that a run of the level is better on a board than one of the baseline; for a metric
            without a better direction, that it is greater.
        lowest: the mean if excluded runs counted 0 for the level and 1 for the baseline; NaN if there are none, or if
            the metric is not a share.
        highest: the mean in the opposite case.
        strata: number of values of the crossed factors, or of beginnings of branches, that both have.
    """

    metric: str
    level: str
    point: Scalar
    mean: Estimate
    deviation: float
    differing: int
    unpaired: int
    p: float
    p_holm: float
    improvement: Estimate
    lowest: float
    highest: float
    strata: int = 1


@dataclass(frozen=True, slots=True)
class Pairing:
    """The input of one difference.

    Attributes:
        level: the level.
        point: the value of `across`; None without it.
        level_cells: values of the level.
        baseline_cells: values of the baseline.
        worst: both, with excluded runs as 0 for the level and as 1 for the baseline; None if there are none.
        best: both, the other way round.
    """

    level: str
    point: Scalar
    level_cells: Cells
    baseline_cells: Cells
    worst: tuple[Cells, Cells] | None = None
    best: tuple[Cells, Cells] | None = None


def differences(metric: Metric, pairings: Sequence[Pairing]) -> list[Difference]:
    """Compute the differences of one metric, which are one family of Holm's correction.

    Several runs in one cell count as their mean, and so do several cells of one board. Cells that only one of the two
    has are excluded.

    Args:
        metric: the metric.
        pairings: the values.
    """
    found = [over_boards(p.level_cells, p.baseline_cells) for p in pairings]
    p_values = [sign_flip_test(delta) if len(delta) else math.nan for delta in found]
    known = [place for place, delta in enumerate(found) if len(delta)]
    least = [min(1.0, smallest_p(int(np.count_nonzero(found[place])))) for place in known]
    adjusted = dict(zip(known, holm([p_values[place] for place in known], least), strict=True))
    return [
        Difference(
            metric=metric.name,
            level=p.level,
            point=p.point,
            mean=_estimate(p, delta, share=metric.rate),
            deviation=float(delta.std(ddof=1)) if len(delta) > 1 else math.nan,
            differing=int(np.count_nonzero(delta)),
            unpaired=len(p.level_cells.keys() ^ p.baseline_cells.keys()),
            strata=len({cell[1:] for cell in p.level_cells.keys() & p.baseline_cells.keys()}),
            p=p_values[place],
            p_holm=adjusted.get(place, math.nan),
            improvement=_improvement(p, metric),
            lowest=_mean(over_boards(*p.worst)) if p.worst is not None else math.nan,
            highest=_mean(over_boards(*p.best)) if p.best is not None else math.nan,
        )
        for place, (p, delta) in enumerate(zip(pairings, found, strict=True))
    ]


def _by_board(cells: Cells, others: Cells) -> dict[Scalar, list[Cell]]:
    """Return the cells that both have, by board, in a fixed order."""
    boards: dict[Scalar, list[Cell]] = {}
    for cell in sorted(cells.keys() & others.keys(), key=repr):
        boards.setdefault(cell[0], []).append(cell)
    return boards


def over_boards(level: Cells, baseline: Cells) -> Floats:
    """Return the mean difference of each board, shape (boards,)."""
    return np.array(
        [
            fmean(fmean(level[cell]) - fmean(baseline[cell]) for cell in cells)
            for cells in _by_board(level, baseline).values()
        ]
    )


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else math.nan


def _estimate(pairing: Pairing, delta: Floats, *, share: bool) -> Estimate:
    common = pairing.level_cells.keys() & pairing.baseline_cells.keys()
    runs = sum(len(cells[cell]) for cells in (pairing.level_cells, pairing.baseline_cells) for cell in common)
    low, high = sign_flip_interval(delta, share=share)
    return Estimate(_mean(delta), low, high, runs, len(delta))


def _improvement(pairing: Pairing, metric: Metric) -> Estimate:
    """Average over boards the share of pairs of runs in which the level is better, with the interval of a share."""
    pair = (pairing.level_cells, pairing.baseline_cells)
    better, worse = reversed(pair) if metric.better == "lower" else pair
    shares = [fmean(share_greater(better[cell], worse[cell]) for cell in cells) for cells in _by_board(*pair).values()]
    return estimate(np.array(shares, dtype=np.float64), share=True)

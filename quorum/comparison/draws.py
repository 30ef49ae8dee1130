"""Draws: what chance alone changes on a board.

Runs that differ only in `draw` are repetitions on one board. Within a group, a board counts separately under each value
of the crossed factors and of those pooled over. C is the number of these boards, n the number of draws of one board, c
the number of its draws that succeed, s^2 their variance.

| statistic | formula |
|---|---|
| variance between draws, between boards | the unbiased components of a one-way analysis of variance with unequal groups, within strata (Searle, Casella and McCulloch 1992, Variance Components, section 3.6). The second may be below 0 |
| flip rate | probability that two draws of a board differ: the mean of 2 c (n - c) / (n (n - 1)) |
| pass^k | probability that k draws of a board all succeed: the mean of C(c, k) / C(n, k) over the boards with at least k draws (tau-bench, arXiv 2406.12045, section 3.1) |
| largest A/A gap | between the means of two draws, over the boards that have both |
| A/A gap | the gap that two sweeps of this size with one draw a board exceed in 5 % of cases, by the normal approximation: 1.96 sqrt(2 v / C), with v the mean of s^2 over the boards with several draws |
"""  # noqa: E501 - a table

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist, fmean

import numpy as np

from maeil.metrics import METRICS, reproducible
from quorum.comparison.factors import value_of
from quorum.comparison.groups import Group, numbered
from quorum.comparison.statistics.intervals import Floats
from quorum.configuration.origin import Scalar
from quorum.configuration.registry import minds
from quorum.runs import Row

DRAW = "draw"
"""Name of the factor."""
_REACH = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class Noise:
    """What chance alone changes in one metric of one group.

    Attributes:
        boards: number of boards that define the metric, each under each value of other factors.
        several: number of these with several draws.
        fewest: smallest number of draws of a board.
        most: largest number of draws of a board.
        between: variance between boards.
        within: variance between draws of a board.
        flipping: number of boards whose draws differ; None unless the metric is binary.
        flip_rate: probability that two draws of a board differ; NaN unless the metric is binary.
        passes: pass^1, pass^2 and so on, to the number of draws; empty unless the metric is binary.
        largest_gap: between the means of two draws; NaN if no board has both.
        gap: the gap that two sweeps with one draw a board exceed in 5 % of cases.
    """

    boards: int
    several: int
    fewest: int
    most: int
    between: float
    within: float
    flipping: int | None
    flip_rate: float
    passes: tuple[float, ...]
    largest_gap: float
    gap: float

    @property
    def share(self) -> float:
        """The share of draws in the variance, from 0 to 1; NaN if nothing varies."""
        whole = max(self.between, 0.0) + self.within
        return self.within / whole if whole > 0 else math.nan


def noise_of(groups: Iterable[Group], metric: str) -> dict[tuple[str, Scalar], Noise]:
    """Return what chance changes in a metric, by level and value of `across`, for groups with several draws.

    Args:
        groups: groups of runs of a comparison.
        metric: its name.
    """
    drawn = {(group.level, group.point): drawn_of(group) for group in groups}
    found = {place: _values(boards, metric) for place, boards in drawn.items()}
    binary = METRICS[metric].rate and all(np.isin(values, (0, 1, np.nan)).all() for values, _ in found.values())
    lower = METRICS[metric].better == "lower"
    return {
        place: noise(values, strata, (1 - values if lower else values) if binary else None)
        for place, (values, strata) in found.items()
        if (np.isfinite(values).sum(axis=1) > 1).any()
    }


def drawn_of(group: Group) -> dict[tuple[Scalar, ...], dict[Scalar, Row]]:
    """Return the runs of a group by board and values of all other factors, and then by draw."""
    found: dict[tuple[Scalar, ...], dict[Scalar, Row]] = {}
    for row in group.rows:
        others = (value_of(row, factor) for factor in group.design.pooled_over)
        board = (group.design.board(row), *group.design.stratum(row), *others)
        found.setdefault(board, {})[value_of(row, DRAW) or 0] = row
    return found


def agree(groups: Iterable[Group]) -> bool:
    """Whether all draws of a board agree in every reproducible metric."""
    boards = [list(draws.values()) for group in groups for draws in drawn_of(group).values()]
    return all(reproducible(row.metrics) == reproducible(draws[0].metrics) for draws in boards for row in draws[1:])


def may_draw(row: Row) -> bool:
    """Whether a team draws at random: it called a model, or some of its minds draw themselves."""
    if row.models:
        return True
    names = (str(value) for key, value in row.factors.items() if key.startswith("agents.") and key.endswith(".name"))
    return any(name in minds.names() and minds.get(name).draws for name in names)


def _values(boards: Mapping[tuple[Scalar, ...], Mapping[Scalar, Row]], metric: str) -> tuple[Floats, list[Hashable]]:
    """Return a metric by board and draw, NaN if missing, and the stratum of each board."""
    numbers = list(dict.fromkeys(draw for draws in boards.values() for draw in draws))
    rows = [[draws[n].metrics.get(metric) if n in draws else None for n in numbers] for draws in boards.values()]
    values = np.array(rows, dtype=np.float64)  # None becomes NaN
    kept, strata = np.flatnonzero(np.isfinite(values).any(axis=1)), [board[1:] for board in boards]
    return values[kept], [strata[place] for place in kept]


def noise(values: Floats, strata: Sequence[Hashable], successes: Floats | None = None) -> Noise:
    """Compute what chance changes.

    Args:
        values: by board and draw, shape (boards, draws), NaN if missing; each board has one, some have two.
        strata: the stratum of each board.
        successes: the values as 0 or 1, if the metric is binary.
    """
    counts = np.isfinite(values).sum(axis=1)
    several = counts > 1
    between, within = variance_components(values, strata)
    return Noise(
        boards=len(values),
        several=int(several.sum()),
        fewest=int(counts.min()),
        most=int(counts.max()),
        between=between,
        within=within,
        flipping=None if successes is None else int((np.nanmin(values, axis=1) < np.nanmax(values, axis=1)).sum()),
        flip_rate=math.nan if successes is None else flip_rate(successes),
        passes=() if successes is None else tuple(passes(successes, k) for k in range(1, int(counts.max()) + 1)),
        largest_gap=largest_gap(values),
        gap=_REACH * math.sqrt(2 * float(np.nanvar(values[several], axis=1, ddof=1).mean()) / len(values)),
    )


def variance_components(values: Floats, strata: Sequence[Hashable]) -> tuple[float, float]:
    """Return the variance between boards and the variance between draws; NaN if it cannot be estimated.

    Args:
        values: by board and draw, shape (boards, draws), NaN if missing; each board has one.
        strata: the stratum of each board. Differences between strata are in neither variance.
    """
    counts, means = np.isfinite(values).sum(axis=1), np.nanmean(values, axis=1)
    freedom = int((counts - 1).sum())
    within = float(np.nansum((values - means[:, None]) ** 2)) / freedom if freedom else math.nan
    stratum = numbered(strata)
    sizes = np.bincount(stratum, counts)
    middles = np.bincount(stratum, counts * means) / sizes
    degrees = len(means) - len(sizes)
    weight = float((sizes - np.bincount(stratum, counts**2) / sizes).sum())
    squares = float(counts @ (means - middles[stratum]) ** 2)
    return (squares - degrees * within) / weight if degrees else math.nan, within


def flip_rate(successes: Floats) -> float:
    """Return the probability that two draws of a board differ, over the boards with several.

    Args:
        successes: 0 or 1 by board and draw, NaN if missing, shape (boards, draws).
    """
    counts, hits = np.isfinite(successes).sum(axis=1), np.nansum(successes, axis=1)
    rates = [2 * c * (n - c) / (n * (n - 1)) for n, c in zip(counts, hits, strict=True) if n > 1]
    return float(np.mean(rates)) if rates else math.nan


def passes(successes: Floats, k: int) -> float:
    """Return pass^k over the boards with at least k draws; NaN if there are none.

    Args:
        successes: as for `flip_rate`.
        k: number of draws, at least 1.
    """
    counts, hits = np.isfinite(successes).sum(axis=1), np.nansum(successes, axis=1)
    rates = [math.comb(int(c), k) / math.comb(int(n), k) for n, c in zip(counts, hits, strict=True) if n >= k]
    return fmean(rates) if rates else math.nan


def largest_gap(values: Floats) -> float:
    """Return the largest difference between the means of two draws over the boards that have both; NaN for none."""
    gaps = []
    for one, other in combinations(values.T, 2):
        both = np.isfinite(one) & np.isfinite(other)
        if both.any():
            gaps.append(abs(float((one[both] - other[both]).mean())))
    return max(gaps, default=math.nan)

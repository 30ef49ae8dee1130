"""The runs of one level at one value of `across`, and their statistics."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

import numpy as np

from maeil.metrics import METRICS
from quorum.comparison.design import Design
from quorum.comparison.statistics.intervals import Estimate, Floats, Name, Numbers, board_means, estimate
from quorum.configuration.origin import Scalar
from quorum.runs import Row
from quorum_base.user_errors import UserError


@dataclass(frozen=True)
class Group:
    """The runs of one level at one value of `across`.

    Attributes:
        level: label of the level.
        point: value of `across`; None without it.
        rows: the runs that count.
        left_out: the runs that do not.
        design: what else varies among them.
    """

    level: str
    point: Scalar
    rows: tuple[Row, ...]
    left_out: tuple[Row, ...]
    design: Design

    @cached_property
    def boards(self) -> Numbers:
        """Board number of each run, shape (runs,): runs with one seed share it, or branches with one draw."""
        return numbered(self.design.board(row) for row in self.rows)

    @cached_property
    def strata(self) -> Numbers:
        """Stratum number of each run, shape (runs,)."""
        return numbered(self.design.stratum(row) for row in self.rows)

    @property
    def partial_boards(self) -> int:
        """Number of boards that lack runs in some stratum, if others have runs in several; 0 for branches."""
        if self.design.family:
            return 0
        cells = set(zip(self.boards.tolist(), self.strata.tolist(), strict=True))
        sizes = Counter(board for board, _ in cells).values()
        strata = len({stratum for _, stratum in cells})
        return 0 if max(sizes) == 1 else sum(size < strata for size in sizes)

    def values(self, metric: str) -> Floats:
        """Return the values of a metric in the runs that define it."""
        return np.array([v for row in self.rows if (v := row.metrics.get(metric)) is not None], dtype=np.float64)

    def board_means(self, metric: str) -> Floats:
        """Return the mean of a metric on each board, shape (boards,), in the order of the boards."""
        values: dict[Scalar, list[float]] = {}
        for row, value in self._counted(metric, None):
            values.setdefault(self.design.board(row), []).append(value)
        return np.array([fmean(found) for found in values.values()], dtype=np.float64)

    def cells(self, metric: str, left_out: float | None = None) -> dict[tuple[Scalar, ...], list[float]]:
        """Return the values of a metric by board and stratum.

        Args:
            metric: its name.
            left_out: the value that excluded runs count with; None: they do not count.
        """
        values: dict[tuple[Scalar, ...], list[float]] = {}
        for row, value in self._counted(metric, left_out):
            values.setdefault((self.design.board(row), *self.design.stratum(row)), []).append(value)
        return values

    def estimate(self, metric: str, statistic: Name, left_out: float | None = None) -> Estimate:
        """Compute a statistic of a metric over the boards of the runs that define it.

        Args:
            metric: its name.
            statistic: the name of the statistic.
            left_out: the value that excluded runs count with; None: they do not count.

        Raises:
            UserError: the metric is registered as a rate, but a value is outside 0 to 1.
        """
        key = (metric, statistic, left_out)
        if key not in self._estimates:
            values, boards, strata = self._sample(metric, left_out)
            rate, limit = METRICS[metric].rate, self.limit(metric)
            found = estimate(values, statistic, boards=boards, strata=strata, share=rate, limit=limit)
            self._estimates[key] = found
        return self._estimates[key]

    @cached_property
    def _estimates(self) -> dict[tuple[str, Name, float | None], Estimate]:
        """The estimates so far: tables, files and figures show the same ones."""
        return {}

    def mean(self, metric: str) -> float:
        """Return the mean of a metric over the boards of the runs that define it; NaN if none does.

        It equals the value of `estimate`, without the interval, which takes most of the time.
        """
        values, boards, strata = self._sample(metric, None)
        return float(board_means(values, boards, strata)[0].mean()) if len(values) else math.nan

    def _sample(self, metric: str, left_out: float | None) -> tuple[Floats, Numbers, Numbers]:
        """Return the values of a metric, and the board and the stratum of each."""
        counted = self._counted(metric, left_out)
        values = np.array([value for _, value in counted], dtype=np.float64)
        if METRICS[metric].rate and bool(((values < 0) | (values > 1)).any()):
            kind = "share" if METRICS[metric].share else "rate"
            raise UserError(
                f"{metric}: registered as a {kind}, from 0 to 1, but its values range from"
                f" {values.min():g} to {values.max():g}",
                f"Register it without {kind}=True, and compute the metrics again.",
            )
        if left_out is None and len(counted) == len(self.rows):
            return values, self.boards, self.strata
        boards = numbered(self.design.board(row) for row, _ in counted)
        return values, boards, numbered(self.design.stratum(row) for row, _ in counted)

    def limit(self, metric: str) -> float | None:
        """Return the largest possible value of a metric in these runs; None if it has no bounds or exceeds them."""
        key, values = METRICS[metric].limit, self.values(metric)
        if not key:
            return None
        limits = [row.factors.get(key, row.metrics.get(key)) for row in self.rows]
        known = [float(limit) for limit in limits if isinstance(limit, int | float)]
        if len(known) < len(limits) or not len(values) or values.min() < 0 or values.max() > max(known):
            return None
        return max(known)

    def bounds(self, metric: str, statistic: Name) -> tuple[Estimate, Estimate]:
        """Return a statistic of a share with all excluded runs counted as failures, and as successes.

        Whatever the excluded runs would have reached, the statistic of all runs lies between the two (Manski 1990,
        Nonparametric Bounds on Treatment Effects).
        """
        failure, success = (1.0, 0.0) if METRICS[metric].better == "lower" else (0.0, 1.0)
        return self.estimate(metric, statistic, failure), self.estimate(metric, statistic, success)

    def _counted(self, metric: str, left_out: float | None) -> list[tuple[Row, float]]:
        found = [(row, value) for row in self.rows if (value := row.metrics.get(metric)) is not None]
        return found if left_out is None else [*found, *((row, left_out) for row in self.left_out)]


def numbered(labels: Iterable[Hashable]) -> Numbers:
    """Number labels in order of first appearance."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)

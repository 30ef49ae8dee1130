"""The cells of a table of the guide, written from a comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from quorum.comparison.comparison import Comparison
from quorum.comparison.differences import Difference
from quorum.comparison.factors import written
from quorum.comparison.groups import Group
from quorum.comparison.tables import decimals, interval, p_value

KEEP = "-"
"""A column that is not measured: its cells stay unchanged."""


@dataclass(frozen=True)
class Column:
    """The content of a column: `METRIC [KIND] [PLACES] [@ WHERE]`.

    Attributes:
        metric: its name, or `KEEP`.
        kind: `interval` (a mean with its interval), `mean`, `difference` (from the baseline, with its interval), `p`,
            `holm`, `fewer` (boards with fewer and with more than the baseline), `count` (`45 of 50`: runs in which it
            is true), or `solved` (`25.1 (18-36), 39 of 40`: mean and range; successes, unless all runs are).
        places: decimals; None: as many as a comparison shows.
        where: the point, or the level if rows are points; empty: that of the row.
    """

    metric: str
    kind: str
    places: int | None
    where: str

    @classmethod
    def of(cls, text: str) -> Column:
        """Read a column."""
        words, _, where = text.partition(" @ ")
        metric, *rest = words.split()
        places = int(rest.pop()) if rest and rest[-1].isdigit() else None
        return cls(metric, rest[0] if rest else "interval", places, where)


class Cells:
    """Writes the cells of a comparison.

    Args:
        comparison: has the metrics of all columns.
    """

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self._differences = {(d.metric, d.level, written(d.point)): d for d in comparison.differences}
        self._groups = {(level, written(point)): group for (level, point), group in comparison.groups.items()}

    def column(self, column: Column, keys: Sequence[tuple[str, str]]) -> list[str]:
        """Return the cells of a column by level and point."""
        if column.metric == KEEP:
            return [KEEP] * len(keys)
        metric, places = column.metric, column.places
        if column.kind in ("interval", "mean", "count", "solved"):
            groups = [self._groups[key] for key in keys]
            estimates = [group.estimate(metric, "mean") for group in groups]
            if column.kind == "interval":
                return [interval(found, decimals(estimates) if places is None else places) for found in estimates]
            if column.kind == "mean":
                return ["" if math.isnan(e.value) else f"{e.value:,.{places or 0}f}" for e in estimates]
            return [(_count if column.kind == "count" else _solved)(metric, group) for group in groups]
        found = [self._differences.get((metric, *key)) for key in keys]
        there = [difference.mean for difference in found if difference is not None]
        return [self._difference(column, one, decimals(there) if places is None else places) for one in found]

    def _difference(self, column: Column, difference: Difference | None, places: int) -> str:
        if difference is None:
            return ""
        match column.kind:
            case "difference" if not difference.differing:
                return f"no {self._comparison.unit[:-1]} differs"
            case "difference":
                return interval(difference.mean, places, signed=True)
            case "p":
                return p_value(difference.p)
            case "holm":
                return p_value(difference.p_holm)
            case "fewer":
                return self._fewer(difference)
        raise ValueError(f"there is no kind {column.kind!r} of cells")

    def _fewer(self, difference: Difference) -> str:
        place = written(difference.point)
        own = self._groups[difference.level, place].cells(difference.metric)
        others = self._groups[str(self._comparison.baseline), place].cells(difference.metric)
        changes = [fmean(own[cell]) - fmean(others[cell]) for cell in own]
        return f"{sum(change < 0 for change in changes)} / {sum(change > 0 for change in changes)}"


def _count(metric: str, group: Group) -> str:
    return f"{sum(bool(row.metrics[metric]) for row in group.rows)} of {len(group.rows)}"


def _solved(metric: str, group: Group) -> str:
    values = [row.metrics[metric] for row in group.rows]
    solved = sum(bool(row.metrics["outcome.success"]) for row in group.rows)
    of_all = f", {solved} of {len(values)}" if solved < len(values) else ""
    return f"{fmean(values):.1f} ({min(values):.0f}-{max(values):.0f}){of_all}"

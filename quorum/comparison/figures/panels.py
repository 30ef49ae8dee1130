"""A panel of estimates with their intervals: against `across`, or with a row for each level."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from quorum.comparison.comparison import Comparison
from quorum.comparison.factors import written
from quorum.comparison.figures import style
from quorum.comparison.figures.scales import scale
from quorum.comparison.statistics.intervals import Estimate
from quorum.comparison.tables import level_label
from quorum.configuration.origin import Scalar

Key = tuple[str, Scalar]
"""A level and a value of `across`."""
Estimates = Mapping[Key, Estimate]
_LABEL = 26
"""Maximum letters in the label of a level."""
_CLUSTER, _STEP = 0.5, 0.04
"""Largest share of the distance between neighbouring values of `across` that the levels at one of them take up, and
largest distance between two levels, as a share of the distance between the first and the last value."""


def sheet(comparison: Comparison, number: int, *, height: float) -> style.Sheet:
    """Make a figure with a number of panels; `height` is that of a panel against `across`, in inches."""
    if comparison.across is not None:
        return style.sheet(number, height=height)
    return style.sheet(number, height=0.75 + 0.2 * len(comparison.levels), columns=2)


def estimates_of(comparison: Comparison, metric: str) -> Estimates:
    """Return the estimates of a metric in the groups that define it."""
    groups = comparison.groups.items()
    return {key: group.estimate(metric, comparison.statistic) for key, group in groups if len(group.values(metric))}


def draw_metric(axes: Axes, comparison: Comparison, metric: str) -> None:
    """Draw the estimates of a metric, with a faint point for each board."""
    draw(axes, comparison, estimates_of(comparison, metric), boards=metric)
    scale(axes, "x" if comparison.across is None else "y", metric)


def draw(
    axes: Axes,
    comparison: Comparison,
    estimates: Estimates,
    *,
    boards: str = "",
    hollow: Collection[Key] = (),
) -> None:
    """Draw estimates. If the values of `across` are numbers, a line joins the estimates of each level.

    Args:
        axes: the panel.
        comparison: the levels and the values of `across`.
        estimates: what to draw; none of them is undefined.
        boards: a metric whose value on each board becomes a faint point behind the estimate; empty for no points.
        hollow: those with a hollow mark.
    """
    flat = comparison.across is None
    levels = [level for level in comparison.levels if any(key[0] == level for key in estimates)]
    places, numeric = positions(comparison)
    step = dodge(places, len(levels))
    for number, level in enumerate(levels):
        offset = (number - (len(levels) - 1) / 2) * step
        at = {
            (level, point): float(number) if flat else place + offset
            for place, point in zip(places, comparison.points, strict=True)
            if (level, point) in estimates
        }
        look = style.look(comparison, level)
        if numeric:
            axes.plot(list(at.values()), [estimates[key].value for key in at], color=look["color"], linewidth=1.2)
        for key, place in at.items() if boards else ():
            if len(values := np.unique(comparison.groups[key].board_means(boards))) > 1:
                points = (values, np.full(len(values), place))
                faint = {**look, "marker": "o", "markersize": 2.5, "alpha": 0.3, "markeredgewidth": 0, "zorder": 1}
                axes.plot(*(points if flat else points[::-1]), linestyle="", **faint)
        for face in ("none", look["color"]):
            chosen = {place: estimates[key] for key, place in at.items() if (key in hollow) == (face == "none")}
            _mark(axes, chosen, flat=flat, markerfacecolor=face, **look)
    if flat:
        axes.set_yticks(range(len(levels)), [style.clipped(level_label(comparison, own), _LABEL) for own in levels])
        axes.set_ylim(len(levels) - 0.5, -0.5)
    else:
        axes.set_xticks(places, [style.clipped(written(point), 20) for point in comparison.points])
        edge = 0.5 * len(levels) * step + 0.05 * max(places[-1] - places[0], 1.0)
        axes.set_xlim(places[0] - edge, places[-1] + edge)
    style.grid(axes, "x" if flat else "y")


def positions(comparison: Comparison) -> tuple[list[float], bool]:
    """Return the positions of the values of `across`, logarithmic for wide ranges, and whether they are numbers."""
    points = [point for point in comparison.points if isinstance(point, int | float) and not isinstance(point, bool)]
    if len(points) < len(comparison.points):
        return [float(place) for place in range(len(comparison.points))], False
    if points[0] > 0 and points[-1] / points[0] >= 4:
        return [math.log2(point) for point in points], True
    return [float(point) for point in points], True


def dodge(places: Sequence[float], levels: int) -> float:
    """Return the distance between levels at one value of `across`, so that each stands near it."""
    gap = min(map(float, np.diff(places)), default=1.0)
    return min(_CLUSTER * gap / max(levels, 1), _STEP * max(places[-1] - places[0], gap))


def _mark(axes: Axes, chosen: Mapping[float, Estimate], *, flat: bool, **look: str) -> None:
    """Draw estimates with their intervals, along x if they are flat, else along y."""
    if not chosen:
        return
    values = [estimate.value for estimate in chosen.values()]
    ends = [
        (0.0, 0.0) if math.isnan(e.low) else (max(0.0, e.value - e.low), max(0.0, e.high - e.value))
        for e in chosen.values()
    ]
    x, y = (values, list(chosen)) if flat else (list(chosen), values)
    bars = {"xerr" if flat else "yerr": np.array(ends).T}
    axes.errorbar(x, y, **bars, **look, linestyle="", markersize=4, elinewidth=1.0, capsize=2.0, capthick=1.0)  # type: ignore[arg-type]

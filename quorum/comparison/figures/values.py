"""Figures of the compared metrics: values, differences from the baseline, equal budgets, and published values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FormatStrFormatter, NullFormatter, NullLocator

from maeil.metrics import METRICS
from quorum.comparison.comparison import Comparison
from quorum.comparison.differences import Difference
from quorum.comparison.factors import short, written
from quorum.comparison.figures import style
from quorum.comparison.figures.registry import Drawing, figure
from quorum.comparison.formats import ARROWS
from quorum.comparison.metrics import arrow
from quorum.comparison.spent import BUDGETS
from quorum.comparison.statistics.intervals import Estimate
from quorum.comparison.tables import STATISTIC_NAMES, baseline_label, level_label
from quorum.configuration.origin import Scalar
from quorum.runs.sweep_file import Published, Value

OVERVIEW = ("outcome.completion", "outcome.steps", "communication.messages", "decision.overhead", "plans.coherence")
"""Metrics of the overview, in addition to the compared ones."""
_LABEL = 26
"""Maximum letters in the label of a level."""
_DODGE = 0.06
"""Distance between neighbouring levels, as a share of the distance between neighbouring points."""


@figure("metrics")
def metrics(comparison: Comparison) -> Iterator[Drawing]:
    """Draw each compared metric as a separate figure, with files named after it."""
    yield from singles(comparison, comparison.metrics)


def singles(comparison: Comparison, chosen: Sequence[str]) -> Iterator[Drawing]:
    """Draw each metric as a separate figure."""
    for metric in chosen:
        if any(len(group.values(metric)) for group in comparison.groups.values()):
            single = _sheet(comparison, 1, 2.2)
            _panel(single.panels[0], comparison, metric)
            single.panels[0].set_xlabel(comparison.across or METRICS[metric].unit)
            single.panels[0].set_ylabel(METRICS[metric].unit if comparison.across is not None else "")
            yield Drawing(f"{metric} {_description(comparison)}", _finish(single, comparison, [metric]), metric)


@figure("overview")
def overview(comparison: Comparison) -> Iterator[Drawing]:
    """Draw the compared metrics, and those of `OVERVIEW`, as small multiples."""
    shown = [metric for metric in dict.fromkeys((*comparison.metrics, *OVERVIEW)) if _tells(comparison, metric)]
    if len(shown) > 1:
        many = _sheet(comparison, len(shown), 1.75)
        for place, (axes, metric) in enumerate(zip(many.panels, shown, strict=True)):
            _panel(axes, comparison, metric)
            axes.set_xlabel(comparison.across or "" if many.bottom_row(place) else "")
        yield Drawing(f"{', '.join(shown)} {_description(comparison)}", _finish(many, comparison, shown))


def _sheet(comparison: Comparison, number: int, height: float) -> style.Sheet:
    if comparison.across is not None:
        return style.sheet(number, height=height)
    longest = max(len(style.clipped(level_label(comparison, level), _LABEL)) for level in comparison.levels)
    margins = style.Margins(left=0.2 + 0.062 * longest)
    return style.sheet(number, height=0.75 + 0.2 * len(comparison.levels), columns=2, margins=margins)


def _tells(comparison: Comparison, metric: str) -> bool:
    """Whether a metric is informative: some run defines it, and not all values are 0."""
    return any(bool(group.values(metric).any()) for group in comparison.groups.values())


def _description(comparison: Comparison) -> str:
    across = f" against {comparison.across}" if comparison.across is not None else ""
    return f"by {', '.join(comparison.by)}{across}"


def _finish(drawn: style.Sheet, comparison: Comparison, shown: Sequence[str]) -> Figure:
    runs = len(comparison.pool.rows)
    remark = f"{STATISTIC_NAMES[comparison.statistic].capitalize()} with 95 % interval; " if runs > 1 else ""
    remark += f"{runs} {comparison.things if runs != 1 else comparison.things[:-1]}"
    remark += f", the mean of each {comparison.unit[:-1]}. {ARROWS}" if comparison.clustered else f". {ARROWS}"
    hollow = any(
        _is_hollow(metric, group.estimate(metric, comparison.statistic))
        for metric in shown
        for group in comparison.groups.values()
    )
    remark += " Hollow: 0 or 1 in all runs." if hollow else ""
    return style.finish(drawn, comparison, remark, legend=comparison.across is not None)


def _is_hollow(metric: str, found: Estimate) -> bool:
    """Whether a rate is 0 or 1 in all runs: its interval, which only reflects the number of runs, is not drawn."""
    return METRICS[metric].rate and found.value in (0, 1)


def _panel(axes: Axes, comparison: Comparison, metric: str) -> None:
    style.title(axes, METRICS[metric].title + arrow(metric))
    _estimates(axes, comparison, metric)
    if METRICS[metric].share:
        (axes.set_xlim if comparison.across is None else axes.set_ylim)(0, 1.05)


def _estimates(axes: Axes, comparison: Comparison, metric: str) -> None:
    """Draw the estimates of a metric: a row for each level, or against `across`.

    If the values of `across` are numbers, a line joins the estimates of each level.
    """
    flat = comparison.across is None
    places, numeric = _places(comparison)
    gap = _DODGE * float(min(np.diff(places), default=1.0))
    middle = (len(comparison.levels) - 1) / 2
    for number, level in enumerate(comparison.levels):
        found = []
        for place, point in zip(places, comparison.points, strict=True):
            group = comparison.groups.get((level, point))
            if group is not None and len(group.values(metric)):
                here = float(number) if flat else place + (number - middle) * gap
                _boards(axes, comparison, metric, (level, point), here, flat=flat)
                found.append((here, group.estimate(metric, comparison.statistic)))
        if found and numeric:
            line = [estimate.value for _, estimate in found]
            axes.plot([place for place, _ in found], line, color=style.colour(comparison, level), linewidth=1.2)
        if found:
            _mark(axes, comparison, metric, level, found, flat=flat)
    if flat:
        labels = [style.clipped(level_label(comparison, level), _LABEL) for level in comparison.levels]
        axes.set_yticks(range(len(labels)), labels)
        axes.set_ylim(len(labels) - 0.5, -0.5)
    else:
        axes.xaxis.set_major_locator(FixedLocator(places))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xticks(places, [style.clipped(written(point), 14) for point in comparison.points])
    style.grid(axes, "x" if flat else "y")


def _places(comparison: Comparison) -> tuple[list[float], bool]:
    """Return the positions of the values of `across`, logarithmic for wide ranges, and whether they are numbers."""
    points = [point for point in comparison.points if isinstance(point, int | float) and not isinstance(point, bool)]
    if len(points) < len(comparison.points):
        return [float(place) for place in range(len(comparison.points))], False
    if points[0] > 0 and points[-1] / points[0] >= 4:
        return [math.log2(point) for point in points], True
    return [float(point) for point in points], True


def _boards(
    axes: Axes, comparison: Comparison, metric: str, key: tuple[str, Scalar], place: float, *, flat: bool
) -> None:
    """If boards differ, draw a faint point for each distinct board value behind the estimate."""
    values = np.unique(comparison.groups[key].board_means(metric))
    if len(values) > 1:
        places = np.full(len(values), place)
        axes.plot(
            *((values, places) if flat else (places, values)), linestyle="", marker="o", markersize=2.5,
            color=style.colour(comparison, key[0]), alpha=0.3, markeredgewidth=0, zorder=1,
        )  # fmt: skip


def _mark(
    axes: Axes, comparison: Comparison, metric: str, level: str, found: Sequence[tuple[float, Estimate]], *, flat: bool
) -> None:
    """Draw estimates with their intervals, along x if they are flat, else along y.

    A rate that is 0 or 1 in all runs has a long interval, which only reflects the number of runs. The tables give it;
    the figure shows a hollow mark instead, so that levels that all succeed stay readable.
    """
    known = [(place, e) for place, e in found if not _is_hollow(metric, e)]
    hollow = [(place, e) for place, e in found if _is_hollow(metric, e)]
    own = {**style.look(comparison, level), "linestyle": "", "markersize": 4}
    for place, estimate in hollow:
        at = (estimate.value, place) if flat else (place, estimate.value)
        axes.plot(*at, **own, markerfacecolor="none", clip_on=False)
    if not known:
        return
    places, estimates = zip(*known, strict=True)
    values = [estimate.value for estimate in estimates]
    ends = [
        (0.0, 0.0) if math.isnan(e.low) else (max(0.0, e.value - e.low), max(0.0, e.high - e.value)) for e in estimates
    ]
    bars = np.array(ends).T
    x, y = (values, places) if flat else (places, values)
    own |= {"elinewidth": 1.0, "capsize": 2.0, "capthick": 1.0}
    axes.errorbar(x, y, xerr=bars if flat else None, yerr=None if flat else bars, **own)


_ROW = 0.17
"""Height of the row of a difference, in inches."""
_ROW_LABEL = 24
"""Maximum letters in the label of a difference."""


@figure("difference")
def difference(comparison: Comparison) -> Iterator[Drawing]:
    """Draw the differences of each metric in which a board differs, with files named after it."""
    for metric in comparison.metrics:
        found = [item for item in comparison.differences if item.metric == metric and not math.isnan(item.mean.value)]
        if any(item.differing for item in found):
            yield _forest(comparison, metric, found)


def _forest(comparison: Comparison, metric: str, found: Sequence[Difference]) -> Drawing:
    labels = [_label(comparison, item) for item in found]
    margins = style.Margins(left=0.2 + 0.062 * max(map(len, labels)))
    drawn = style.sheet(1, height=0.75 + _ROW * len(found), margins=margins)
    axes = drawn.panels[0]
    gain = comparison.family is not None
    what = "gain" if gain else f"difference from {style.clipped(str(comparison.baseline))}"
    style.title(axes, f"{METRICS[metric].title}{arrow(metric)}: {what}")
    axes.axvline(0, color=style.INK, linewidth=0.7)
    for place, item in enumerate(found):
        look = style.look(comparison, item.level)
        if not math.isnan(item.mean.low):
            axes.plot([item.mean.low, item.mean.high], [place, place], color=look["color"], linewidth=1.2)
        axes.plot(item.mean.value, place, **look, linestyle="", markersize=4)
    axes.set_yticks(range(len(found)), labels)
    axes.set_ylim(len(found) - 0.5, -0.5)
    axes.set_xlabel(METRICS[metric].unit)
    style.grid(axes, "x")
    boards = sorted({item.mean.boards for item in found})
    number = boards[0] if len(boards) == 1 else f"{boards[0]} to {boards[-1]}"
    unit = comparison.unit if number != 1 else comparison.unit[:-1]
    remark = f"Mean {f'gain over {baseline_label(comparison)}, of' if gain else 'difference over'} {number} {unit}"
    remark += " with the 95 % interval of the sign-flip test; without a line, the interval has no ends."
    words = "gain over" if gain else "differences from"
    title = f"{metric}: {words} {baseline_label(comparison)}, by {', '.join(comparison.by)}"
    return Drawing(title, style.finish(drawn, comparison, remark, legend=False), f"difference.{metric}")


def _label(comparison: Comparison, item: Difference) -> str:
    across = "" if comparison.across is None else f", {short(comparison.across)} = {written(item.point)}"
    return style.clipped(item.level, max(8, _ROW_LABEL - len(across))) + across


@figure("budgets")
def budgets(comparison: Comparison) -> Iterator[Drawing]:
    """Draw each metric against the budget, if requested."""
    found = comparison.budgets
    for metric in found.metrics if found is not None else ():
        assert found is not None
        words = BUDGETS[found.kind]
        own = {key[1:]: line for key, line in found.estimates.items() if key[0] == metric}
        lines = {(level, at): (found.budgets[at], line) for (level, at), line in own.items()}
        remark = f"Under equal budgets: {STATISTIC_NAMES[comparison.statistic]} over boards with 95 % interval."
        drawn = _against(comparison, lines, words, METRICS[metric].title + arrow(metric), remark)
        yield Drawing(f"{metric} against {words} spent, by {', '.join(comparison.by)}", drawn, f"budget.{metric}")


_Lines = Mapping[tuple[str, Scalar], tuple[Sequence[float], Sequence[Estimate]]]
"""Positions of the points of a line, and their values, by level and value of `across`."""


def _against(comparison: Comparison, lines: _Lines, x: str, y: str, remark: str) -> Figure:
    """Draw a line with its interval for each level, a panel for each value of `across`."""
    drawn = style.sheet(len(comparison.points), height=2.0)
    shade = min(0.2, 0.5 / len(comparison.levels))
    for place, axes, point in style.panels(drawn, comparison):
        for level in comparison.levels:
            if (level, point) not in lines:
                continue
            places, estimates = lines[level, point]
            look = style.look(comparison, level)
            low, high = [e.low for e in estimates], [e.high for e in estimates]
            axes.fill_between(places, low, high, color=look["color"], alpha=shade, linewidth=0)
            axes.plot(places, [e.value for e in estimates], **look, linewidth=1.2, markersize=3, markevery=0.25)
        axes.set_xlabel(x if drawn.bottom_row(place) else "")
        axes.set_ylabel(y if drawn.first_column(place) else "")
        style.grid(axes, "y")
    return style.finish(drawn, comparison, remark)


Points = list[tuple[float, float]]


@figure("published")
def published(comparison: Comparison) -> Iterator[Drawing]:
    """Draw each published table that has `across` among its factors: a panel for each metric.

    Time in seconds is drawn on a logarithmic scale: teams with and without a model differ by orders of magnitude.
    """
    for place, table in enumerate(comparison.published):
        across = comparison.across
        if across is None or across not in table.factors:
            continue
        places = dict(zip(comparison.points, _places(comparison)[0], strict=True))
        series = {metric: _series(table, metric, across, places) for metric in table.metrics if metric in METRICS}
        shown = [metric for metric, found in series.items() if found]
        if not shown:
            continue
        labels = dict.fromkeys(label for found in series.values() for label in found)
        lines = {label: _line(number) for number, label in enumerate(labels)}
        drawn = style.sheet(len(shown), height=2.3)
        for panel, (axes, metric) in enumerate(zip(drawn.panels, shown, strict=True)):
            style.title(axes, METRICS[metric].title + arrow(metric))
            _estimates(axes, comparison, metric)
            for label, line in lines.items():
                if points := series[metric].get(label):
                    x, y = zip(*points, strict=True)
                    axes.plot(x, y, **line)
            if METRICS[metric].unit == "s":
                axes.set_yscale("log")
                axes.yaxis.set_major_formatter(FormatStrFormatter("%g"))
                axes.yaxis.set_minor_formatter(NullFormatter())
            axes.set_xlabel(short(across) if drawn.bottom_row(panel) else "")
        remark = f"{STATISTIC_NAMES[comparison.statistic].capitalize()} with 95 % interval. Published: {table.source}."
        others = [Line2D([], [], label=style.clipped(f"published: {label}"), **line) for label, line in lines.items()]
        yield Drawing(
            f"Published and here: {', '.join(shown)} against {across}",
            style.finish(drawn, comparison, remark, more=others),
            "published" if place == 0 else f"published_{place + 1}",
        )


def _series(table: Published, metric: str, across: str, places: Mapping[Scalar, float]) -> Mapping[str, Points]:
    """Return the published values of a metric at each position of `across`, a series for each set of other factors."""
    column = len(table.factors) + list(table.metrics).index(metric)
    found: dict[str, Points] = {}
    for row in table.rows:
        factors = dict(zip(table.factors, row, strict=False))
        place, value = places.get(cast("Scalar", factors.pop(across))), _mean(row[column])
        if place is not None and value is not None:
            label = " / ".join(str(factor) for factor in factors.values() if factor is not None)
            found.setdefault(label, []).append((place, value))
    return found


def _mean(value: Value) -> float | None:
    match value:
        case [mean, _]:
            return mean
        case int() | float():
            return value
        case _:
            return None


def _line(number: int) -> dict[str, Any]:
    """Return the style of a published series: dashed and hollow, to distinguish it from runs."""
    marker = style.MARKERS[number % len(style.MARKERS)]
    return {
        "color": style.INK, "linestyle": "--", "linewidth": 0.8, "marker": marker, "markersize": 3.5,
        "markerfacecolor": "none",
    }  # fmt: skip

"""Figures of the compared metrics: values, equal budgets, and published values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FormatStrFormatter, NullFormatter

from maeil.metrics import METRICS
from quorum.comparison.comparison import Comparison
from quorum.comparison.figures import captions, panels, style
from quorum.comparison.figures.registry import Drawing, figure
from quorum.comparison.figures.scales import scale
from quorum.comparison.formats import ARROWS
from quorum.comparison.metrics import arrow
from quorum.comparison.spent import BUDGETS
from quorum.comparison.statistics.intervals import Estimate
from quorum.comparison.tables import STATISTIC_NAMES
from quorum.configuration.origin import Scalar
from quorum.runs.sweep_file import Published, Value

OVERVIEW = ("outcome.completion", "outcome.steps", "communication.messages", "decision.overhead", "plans.coherence")
"""Metrics of the overview, in addition to the compared ones."""


@figure("metrics")
def metrics(comparison: Comparison) -> Iterator[Drawing]:
    """Draw each compared metric as a separate figure, with files named after it."""
    yield from singles(comparison, comparison.metrics)


def singles(comparison: Comparison, chosen: Sequence[str]) -> Iterator[Drawing]:
    """Draw each metric as a separate figure."""
    for metric in chosen:
        if any(len(group.values(metric)) for group in comparison.groups.values()):
            single = panels.sheet(comparison, 1, height=2.2)
            _panel(single.panels[0], comparison, metric)
            unit, across = METRICS[metric].unit, comparison.across
            single.panels[0].set_xlabel(style.name_of(across) if across is not None else unit)
            single.panels[0].set_ylabel(unit if across is not None else "")
            yield Drawing(captions.subject(comparison, [metric]), _finish(single, comparison), metric)


@figure("overview")
def overview(comparison: Comparison) -> Iterator[Drawing]:
    """Draw the compared metrics, and those of `OVERVIEW`, as small multiples."""
    shown = [metric for metric in dict.fromkeys((*comparison.metrics, *OVERVIEW)) if _tells(comparison, metric)]
    if len(shown) > 1:
        many = panels.sheet(comparison, len(shown), height=1.75)
        for place, (axes, metric) in enumerate(zip(many.panels, shown, strict=True)):
            _panel(axes, comparison, metric)
            axes.set_xlabel(style.name_of(comparison.across or "") if many.bottom_row(place) else "")
        yield Drawing(captions.subject(comparison, shown), _finish(many, comparison))


def _tells(comparison: Comparison, metric: str) -> bool:
    """Whether a metric is informative: some run defines it, and not all values are 0."""
    return any(bool(group.values(metric).any()) for group in comparison.groups.values())


def _finish(drawn: style.Sheet, comparison: Comparison) -> Figure:
    runs = len(comparison.pool.rows)
    remark = f"{STATISTIC_NAMES[comparison.statistic].capitalize()} with 95 % interval; " if runs > 1 else ""
    remark += f"{runs} {comparison.things if runs != 1 else comparison.things[:-1]}"
    remark += f", the mean of each {comparison.unit[:-1]}. {ARROWS}" if comparison.clustered else f". {ARROWS}"
    return style.finish(drawn, comparison, remark, legend=comparison.across is not None)


def _panel(axes: Axes, comparison: Comparison, metric: str) -> None:
    style.title(axes, METRICS[metric].title + arrow(metric))
    panels.draw_metric(axes, comparison, metric)


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
        drawn = _against(comparison, lines, words, metric, remark)
        description = f"{captions.subject(comparison, [metric])}, against {words} spent"
        yield Drawing(description, drawn, f"budget.{metric}")


_Lines = Mapping[tuple[str, Scalar], tuple[Sequence[float], Sequence[Estimate]]]
"""Positions of the points of a line, and their values, by level and value of `across`."""


def _against(comparison: Comparison, lines: _Lines, x: str, metric: str, remark: str) -> Figure:
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
        axes.set_ylabel(METRICS[metric].title + arrow(metric) if drawn.first_column(place) else "")
        scale(axes, "y", metric)
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
        places = dict(zip(comparison.points, panels.positions(comparison)[0], strict=True))
        series = {metric: _series(table, metric, across, places) for metric in table.metrics if metric in METRICS}
        shown = [metric for metric, found in series.items() if found]
        if not shown:
            continue
        labels = dict.fromkeys(label for found in series.values() for label in found)
        lines = {label: _line(number) for number, label in enumerate(labels)}
        drawn = style.sheet(len(shown), height=2.3)
        for panel, (axes, metric) in enumerate(zip(drawn.panels, shown, strict=True)):
            _panel(axes, comparison, metric)
            for label, line in lines.items():
                if points := series[metric].get(label):
                    x, y = zip(*points, strict=True)
                    axes.plot(x, y, **line)
            axes.autoscale(axis="y")
            if METRICS[metric].unit == "s":
                axes.set_yscale("log")
                axes.yaxis.set_major_formatter(FormatStrFormatter("%g"))
                axes.yaxis.set_minor_formatter(NullFormatter())
            else:
                scale(axes, "y", metric)
            axes.set_xlabel(style.name_of(across) if drawn.bottom_row(panel) else "")
        remark = f"{STATISTIC_NAMES[comparison.statistic].capitalize()} with 95 % interval. Published: {table.source}."
        others = [Line2D([], [], label=style.clipped(f"published: {label}"), **line) for label, line in lines.items()]
        yield Drawing(
            f"Published and here: {captions.subject(comparison, shown)}",
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

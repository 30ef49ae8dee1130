"""What others have published, drawn next to the runs: each metric against the factor that both have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from matplotlib.lines import Line2D
from matplotlib.ticker import FormatStrFormatter, NullFormatter

from maeil.metrics import METRICS
from quorum.experiments.compare.comparison import Comparison
from quorum.experiments.compare.factors import short
from quorum.experiments.compare.figures import style
from quorum.experiments.compare.figures.registry import Drawing, figure
from quorum.experiments.compare.figures.values import draw_lines, places_of
from quorum.experiments.compare.metrics import arrow
from quorum.experiments.compare.tables import STATISTIC_NAMES
from quorum.experiments.results.rows import Scalar
from quorum.experiments.results.sweep_file import Published, Value

Points = list[tuple[float, float]]


@figure("published")
def published(comparison: Comparison) -> Iterator[Drawing]:
    """Draw each published table against `across`, where that is one of its factors: a panel a metric.

    Time in seconds is drawn by its logarithm: a team without a model and one with differ by orders of magnitude.
    """
    for place, table in enumerate(comparison.published):
        across = comparison.across
        if across is None or across not in table.factors:
            continue
        places = dict(zip(comparison.points, places_of(comparison)[0], strict=True))
        series = {metric: _series(table, metric, across, places) for metric in table.metrics if metric in METRICS}
        shown = [metric for metric, found in series.items() if found]
        if not shown:
            continue
        labels = dict.fromkeys(label for found in series.values() for label in found)
        lines = {label: _line(number) for number, label in enumerate(labels)}
        drawn = style.sheet(len(shown), height=2.3)
        for panel, (axes, metric) in enumerate(zip(drawn.panels, shown, strict=True)):
            style.title(axes, METRICS[metric].title + arrow(metric))
            draw_lines(axes, comparison, metric)
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
    """Return the published values of a metric by the place of `across`, a series for each set of the other factors."""
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
    """Return how a published series is drawn: dashed and hollow, so that none is taken for runs."""
    marker = style.MARKERS[number % len(style.MARKERS)]
    return {
        "color": style.INK, "linestyle": "--", "linewidth": 0.8, "marker": marker, "markersize": 3.5,
        "markerfacecolor": "none",
    }  # fmt: skip

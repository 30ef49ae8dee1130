"""The figure that answers the question: paired differences from the baseline, a panel for each metric."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes

from maeil.metrics import METRICS
from quorum.comparison.comparison import Comparison
from quorum.comparison.figures import captions, panels, style
from quorum.comparison.figures.registry import Drawing, figure
from quorum.comparison.figures.scales import scale
from quorum.comparison.metrics import arrow
from quorum.comparison.statistics.flips import LEVEL

DIFFERENCE = "difference"
"""Name of the figure of differences."""


def answer(comparison: Comparison) -> Drawing | None:
    """Draw the differences; the compared metrics if there are none. None if no run defines a metric."""
    defined = [metric for metric in comparison.metrics if panels.estimates_of(comparison, metric)]
    found = next(difference(comparison), None)
    return found or (_draw(comparison, defined, differences=False) if defined else None)


@figure(DIFFERENCE)
def difference(comparison: Comparison) -> Iterator[Drawing]:
    """Draw the differences of the metrics in which a board differs."""
    differing = {item.metric for item in comparison.differences if item.differing}
    if shown := [metric for metric in comparison.metrics if metric in differing]:
        yield _draw(comparison, shown, differences=True)


def _draw(comparison: Comparison, shown: Sequence[str], *, differences: bool) -> Drawing:
    drawn = panels.sheet(comparison, len(shown), height=2.0)
    what = captions.statistic(comparison, differences=differences)
    for place, (axes, metric) in enumerate(zip(drawn.panels, shown, strict=True)):
        style.title(axes, METRICS[metric].title + arrow(metric))
        if differences:
            _differences(axes, comparison, metric)
        else:
            panels.draw_metric(axes, comparison, metric)
        if comparison.across is None:
            axes.set_xlabel(METRICS[metric].unit)
        else:
            axes.set_xlabel(style.name_of(comparison.across) if drawn.bottom_row(place) else "")
            axes.set_ylabel(what if drawn.first_column(place) else "")
    remark = f"{style.sentence(what)} with 95 % interval."
    remark += f" Filled: p ≤ {LEVEL} after Holm's correction." if differences else ""
    return Drawing(
        f"{captions.subject(comparison, shown)}: {what}",
        style.finish(
            drawn,
            comparison,
            remark,
            legend=comparison.across is not None,
            without=comparison.baseline if differences else None,
        ),
        caption=captions.caption(comparison, shown, differences=differences),
    )


def _differences(axes: Axes, comparison: Comparison, metric: str) -> None:
    known = [item for item in comparison.differences if item.metric == metric and not math.isnan(item.mean.value)]
    found = {(item.level, item.point): item.mean for item in known}
    hollow = {(item.level, item.point) for item in known if not item.p_holm <= LEVEL}
    panels.draw(axes, comparison, found, hollow=hollow)
    largest = max(abs(estimate.value) for estimate in panels.estimates_of(comparison, metric).values())
    scale(axes, "x" if comparison.across is None else "y", metric, difference=True, largest=largest)

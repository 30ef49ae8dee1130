"""Differences from the baseline over the same boards, each with its interval: a forest plot for each metric."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from maeil.metrics import METRICS
from quorum.experiments.compare.comparison import Comparison
from quorum.experiments.compare.differences import Difference
from quorum.experiments.compare.factors import short, written
from quorum.experiments.compare.figures import style
from quorum.experiments.compare.figures.registry import Drawing, figure
from quorum.experiments.compare.metrics import arrow
from quorum.experiments.compare.tables import baseline_label

_ROW = 0.17
"""Height of a difference, in inches."""
_LABEL = 24
"""Letters of the label of a difference."""


@figure("difference")
def difference(comparison: Comparison) -> Iterator[Drawing]:
    """Draw the differences of each metric, in files that are called after it; nothing where no board differs."""
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
        colour = style.colour(comparison, item.level)
        if not math.isnan(item.mean.low):
            axes.plot([item.mean.low, item.mean.high], [place, place], color=colour, linewidth=1.2)
        axes.plot(
            item.mean.value, place, linestyle="", marker=style.marker(comparison, item.level), markersize=4,
            color=colour,
        )  # fmt: skip
    axes.set_yticks(range(len(found)), labels)
    axes.set_ylim(len(found) - 0.5, -0.5)
    axes.set_xlabel(METRICS[metric].unit)
    style.grid(axes, "x")
    boards = sorted({item.mean.boards for item in found})
    number = boards[0] if len(boards) == 1 else f"{boards[0]} to {boards[-1]}"
    unit = comparison.unit if number != 1 else comparison.unit[:-1]
    remark = f"Mean {f'gain over {baseline_label(comparison)}, of' if gain else 'difference over'} {number} {unit}"
    remark += " with the 95 % interval of the sign-flip test; without a line, none has ends."
    words = "gain over" if gain else "differences from"
    title = f"{metric}: {words} {baseline_label(comparison)}, by {', '.join(comparison.by)}"
    return Drawing(title, style.finish(drawn, comparison, remark, legend=False), f"difference.{metric}")


def _label(comparison: Comparison, item: Difference) -> str:
    across = "" if comparison.across is None else f", {short(comparison.across)} = {written(item.point)}"
    return style.clipped(item.level, max(8, _LABEL - len(across))) + across

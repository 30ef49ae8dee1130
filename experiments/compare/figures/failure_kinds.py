"""Why teams failed: the kinds of failures that are found by rule, as one stacked bar a level."""

from __future__ import annotations

import math
from collections.abc import Iterator

from matplotlib.lines import Line2D

from maeil.failures import FailureKind
from quorum.experiments.compare.comparison import Comparison
from quorum.experiments.compare.factors import written
from quorum.experiments.compare.figures import style
from quorum.experiments.compare.figures.registry import Drawing, figure
from quorum.experiments.compare.tables import level_label

_LABEL = 26
"""Letters of the label of a level."""


@figure("failure_kinds")
def failure_kinds(comparison: Comparison) -> Iterator[Drawing]:
    """Draw the failures a run by kind, a panel a value of `across`; nothing where the rules found none."""
    means = {
        (*key, kind): 0.0 if math.isnan(mean := group.mean(f"failure.{kind}")) else mean
        for key, group in comparison.groups.items()
        for kind in FailureKind
    }
    shown = [kind for kind in FailureKind if any(means[*key, kind] for key in comparison.groups)]
    if not shown:
        return
    names = [style.clipped(level_label(comparison, level), _LABEL) for level in comparison.levels]
    margins = style.Margins(left=0.2 + 0.062 * max(map(len, names)), bottom=0.42)
    height = 0.75 + 0.2 * len(names)
    drawn = style.sheet(len(comparison.points), height=height, columns=2, margins=margins)
    highest = max(sum(means[*key, kind] for kind in shown) for key in comparison.groups)
    for axes, point in zip(drawn.panels, comparison.points, strict=True):
        for place, level in enumerate(comparison.levels):
            left = 0.0
            for kind in shown if (level, point) in comparison.groups else ():
                mean = means[level, point, kind]
                axes.barh(place, mean, 0.7, left, color=_colour(kind), edgecolor="white", linewidth=0.5)
                left += mean
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlim(0, 1.05 * highest)
        axes.set_xlabel("failures a run")
        if comparison.across is not None:
            style.title(axes, f"{comparison.across} = {style.clipped(written(point), 20)}")
        style.grid(axes, "x")
    remark = "Failures that the trace proves by rule, by kinds of MAST. Means over boards."
    legend = [
        Line2D(
            [], [], color=_colour(kind), marker="s", linestyle="", label=f"{str(kind).replace('_', ' ')} ({kind.mast})"
        )
        for kind in shown
    ]
    title = f"Failures by kind, by {', '.join(comparison.by)}"
    yield Drawing(title, style.finish(drawn, comparison, remark, legend=False, beside=legend))


def _colour(kind: FailureKind) -> str:
    return style.COLOURS[list(FailureKind).index(kind)]

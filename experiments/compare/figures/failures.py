"""Why teams failed: what failed attempts lacked, and the kinds of failures that are found by rule."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from matplotlib.lines import Line2D

from maeil.failures import FailureKind
from maeil.tasks import Constraint
from quorum.experiments.compare.comparison import Comparison
from quorum.experiments.compare.factors import written
from quorum.experiments.compare.figures import style
from quorum.experiments.compare.figures.registry import Drawing, figure
from quorum.experiments.compare.tables import level_label

MISSING = {f"constraints.missing_{name}": str(name) for name in (*Constraint, "none")}
_UPRIGHT = 2
"""Most labels that stand side by side without touching."""
_LABELS = {"none": "nothing of these"}


@figure("failures")
def failures(comparison: Comparison) -> Iterator[Drawing]:
    """Draw the failed attempts a run by what they lacked, a panel a value of `across`; nothing where none failed."""
    means = {
        (*key, metric): 0.0 if math.isnan(mean := group.mean(metric)) else mean
        for key, group in comparison.groups.items()
        for metric in MISSING
    }
    shown = [metric for metric in MISSING if any(means[*key, metric] for key in comparison.groups)]
    if not shown:
        return
    upright = len(shown) <= _UPRIGHT
    drawn = style.sheet(len(comparison.points), height=2.0, margins=style.Margins(bottom=0.3 if upright else 0.55))
    width = 0.8 / len(comparison.levels)
    highest = max(means.values())
    for place, (axes, point) in enumerate(zip(drawn.panels, comparison.points, strict=True)):
        for number, level in enumerate(comparison.levels):
            if (level, point) in comparison.groups:
                places = np.arange(len(shown)) - 0.4 + width * (number + 0.5)
                heights = [means[level, point, metric] for metric in shown]
                axes.bar(places, heights, width * 0.92, color=style.colour(comparison, level))
        labels = [_LABELS.get(MISSING[metric], MISSING[metric]) for metric in shown]
        if upright:
            axes.set_xticks(range(len(shown)), labels)
        else:
            axes.set_xticks(range(len(shown)), labels, rotation=30, ha="right", rotation_mode="anchor")
        if not any(mean for (_, where, _), mean in means.items() if where == point):
            axes.text(0.5, 0.5, "none failed", transform=axes.transAxes, ha="center", va="center")
        axes.tick_params(axis="x", length=0)
        if comparison.across is not None:
            style.title(axes, f"{comparison.across} = {style.clipped(written(point), 20)}")
        axes.set_ylabel("failed attempts a run" if drawn.first_column(place) else "")
        axes.tick_params(axis="y", labelleft=drawn.first_column(place))
        axes.set_ylim(0, 1.05 * highest)
        axes.set_xlim(-0.6, len(shown) - 0.4)
        style.grid(axes, "y")
    remark = "What failed attempts lacked; one may lack several. Means over boards."
    title = f"Failed attempts by what they lacked, by {', '.join(comparison.by)}"
    yield Drawing(title, style.finish(drawn, comparison, remark, line=False))


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
    yield Drawing(title, style.finish(drawn, comparison, remark, legend=False, more=legend))


def _colour(kind: FailureKind) -> str:
    return style.COLOURS[list(FailureKind).index(kind)]

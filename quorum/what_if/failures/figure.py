"""The figure of failures by kind."""

from __future__ import annotations

import math
from collections.abc import Iterator

from matplotlib.lines import Line2D

from quorum.comparison.comparison import Comparison
from quorum.comparison.figures import style
from quorum.comparison.figures.means import group_means
from quorum.comparison.figures.registry import Drawing, figure
from quorum.comparison.tables import level_label
from quorum.what_if.failures import FailureKind

_LABEL = 26
"""Maximum letters in the label of a level."""
_KINDS = {f"failure.{kind}": kind for kind in FailureKind}
_UNKNOWN = " Unknown: kinds that depend on claims and requests that messages state only as text."


@figure("failure_kinds")
def failure_kinds(comparison: Comparison) -> Iterator[Drawing]:
    """Draw the failures a run by kind, a panel for each value of `across`, if the rules found any."""
    means, shown = group_means(comparison, _KINDS)
    if not shown:
        return
    names = [style.clipped(level_label(comparison, level), _LABEL) for level in comparison.levels]
    drawn = style.sheet(len(comparison.points), height=0.75 + 0.2 * len(names), columns=2)
    highest = max(sum(means[*key, metric] for metric in shown) for key in comparison.groups)
    colours = dict(zip(_KINDS, style.COLOURS, strict=False))
    unknown = ""
    for _, axes, point in style.panels(drawn, comparison):
        for place, level in enumerate(comparison.levels):
            left = 0.0
            for metric in shown:
                mean = means[level, point, metric]
                axes.barh(place, mean, 0.7, left, color=colours[metric], edgecolor="white", linewidth=0.5)
                left += mean
            group = comparison.groups.get((level, point))
            if group is not None and any(math.isnan(group.mean(metric)) for metric in _KINDS):
                side = "left" if left < highest / 2 else "right"
                axes.text(left, place, " + unknown ", ha=side, va="center")
                unknown = _UNKNOWN
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlim(0, 1.05 * highest)
        axes.set_xlabel("failures per run")
        style.grid(axes, "x")
    remark = f"Failures that the trace proves by rule, by kinds of MAST. Means over boards.{unknown}"
    names_of = {metric: f"{str(_KINDS[metric]).replace('_', ' ')} ({_KINDS[metric].mast})" for metric in shown}
    legend = [
        Line2D([], [], color=colours[metric], marker="s", linestyle="", label=name) for metric, name in names_of.items()
    ]
    title = f"Failures by kind, by {', '.join(map(style.name_of, comparison.by))}"
    yield Drawing(title, style.finish(drawn, comparison, remark, legend=False, more=legend))

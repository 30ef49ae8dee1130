"""Outcome against cost, with the front of those that nothing beats in both."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes

from maeil.metrics import METRICS, Better
from quorum.experiments.compare.comparison import Comparison
from quorum.experiments.compare.factors import written
from quorum.experiments.compare.figures import style
from quorum.experiments.compare.figures.registry import Drawing, figure
from quorum.experiments.compare.metrics import arrow

COSTS = ("model.usd", "model.completion_tokens", "communication.messages", "decision.thoughts")
"""What may stand for cost: the first that every group defines and some group has more than nothing of."""
OUTCOMES = ("outcome.completion", "outcome.steps")
"""What may stand for the outcome, behind the metrics that are compared."""


@figure("pareto")
def pareto(comparison: Comparison) -> Iterator[Drawing]:
    """Draw a point a level, a panel a value of `across`: mean outcome against mean cost.

    Nothing is drawn where nothing costs anything, or where all outcomes are alike.
    """
    cost, outcome = _cost(comparison), _outcome(comparison)
    if cost is None or outcome is None:
        return
    points = {
        key: means
        for key, group in comparison.groups.items()
        if not any(map(math.isnan, means := (group.mean(cost), group.mean(outcome))))
    }
    drawn = style.sheet(len(comparison.points), height=2.0)
    for place, (axes, point) in enumerate(zip(drawn.panels, comparison.points, strict=True)):
        here = {level: points[level, point] for level in comparison.levels if (level, point) in points}
        for level, (x, y) in here.items():
            axes.plot(
                x, y, linestyle="", color=style.colour(comparison, level), marker=style.marker(comparison, level),
                markersize=5,
            )  # fmt: skip
        _front(axes, list(here.values()), METRICS[outcome].better)
        if comparison.across is not None:
            style.title(axes, f"{comparison.across} = {style.clipped(written(point), 20)}")
        axes.margins(0.12)
        axes.set_xlabel(f"{METRICS[cost].title} a run" if drawn.bottom_row(place) else "")
        axes.set_ylabel(METRICS[outcome].title + arrow(outcome) if drawn.first_column(place) else "")
        style.grid(axes)
    remark = "Means over boards. Dotted: the Pareto front, which nothing beats in outcome and in cost."
    title = f"{outcome} against {cost} by {', '.join(comparison.by)}"
    yield Drawing(title, style.finish(drawn, comparison, remark))


def _outcome(comparison: Comparison) -> str | None:
    """Choose the first metric with a better way in which the groups differ."""
    wanted = (metric for metric in (*comparison.metrics, *OUTCOMES) if METRICS[metric].better)
    means = {
        metric: {mean for group in comparison.groups.values() if not math.isnan(mean := group.mean(metric))}
        for metric in wanted
    }
    return next((metric for metric, found in means.items() if len(found) > 1), None)


def _cost(comparison: Comparison) -> str | None:
    values = {metric: [group.values(metric) for group in comparison.groups.values()] for metric in COSTS}
    return next((m for m, found in values.items() if all(map(len, found)) and any(v.any() for v in found)), None)


def _front(axes: Axes, points: Sequence[tuple[float, float]], better: Better | None) -> None:
    """Join the points that no other one equals or beats at no more cost."""
    sign = -1 if better == "lower" else 1
    best = -math.inf
    front = []
    for x, y in sorted(points, key=lambda point: (point[0], -sign * point[1])):
        if sign * y > best:
            best = sign * y
            front.append((x, y))
    axes.plot(*zip(*front, strict=True), color=style.INK, linestyle=":", linewidth=1.0, zorder=0.5)

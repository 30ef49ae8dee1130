"""Outcome against cost, with the front of those that nothing beats in both."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.compare import metrics
from experiments.compare.comparison import Comparison
from experiments.compare.factors import written
from experiments.compare.figures import style

COSTS = ("model.usd", "model.completion_tokens", "communication.messages", "decision.thoughts")
"""What may stand for cost: the first that every group defines and some group has more than nothing of."""
OUTCOME = "outcome.completion"


def draw(comparison: Comparison) -> Iterator[tuple[str, str, Figure]]:
    """Draw a point a group: mean outcome against mean cost; nothing where nothing costs anything."""
    outcome = next((metric for metric in comparison.metrics if metrics.direction(metric)), OUTCOME)
    cost = _cost(comparison)
    if cost is None:
        return
    points = {
        key: (float(x.mean()), float(y.mean()))
        for key, group in comparison.groups.items()
        if len(x := group.values(cost)) and len(y := group.values(outcome))
    }
    figure = style.panels(1, height=2.4)
    axes = figure.axes[0]
    for (level, point), (x, y) in points.items():
        axes.plot(
            x, y, linestyle="", color=style.colour(comparison, level), marker=style.marker(comparison, level),
            markersize=5, markeredgewidth=0,
        )  # fmt: skip
        if comparison.across is not None:
            label = style.clipped(written(point), 12)
            axes.annotate(label, (x, y), xytext=(3, 3), textcoords="offset points", fontsize=6.5)
    _front(axes, list(points.values()), metrics.direction(outcome) or 1)
    if all(x > 0 for x, _ in points.values()) and _span([x for x, _ in points.values()]) > 20:
        axes.set_xscale("log")
    axes.margins(0.12)
    unit = metrics.unit(cost)
    axes.set_xlabel(f"{metrics.short(cost)} a run" + (f" ({unit})" if unit not in ("", metrics.short(cost)) else ""))
    axes.set_ylabel(metrics.short(outcome))
    style.grid(axes)
    numbers = f"; numbers: {comparison.across}" if comparison.across is not None else ""
    yield (
        "pareto",
        f"{outcome} against {cost} by {', '.join(comparison.by)}",
        style.finish(figure, comparison, f"Means; dotted: not beaten in both{numbers}", line=False),
    )


def _cost(comparison: Comparison) -> str | None:
    values = {metric: [group.values(metric) for group in comparison.groups.values()] for metric in COSTS}
    return next((m for m, found in values.items() if all(map(len, found)) and any(v.any() for v in found)), None)


def _front(axes: Axes, points: Sequence[tuple[float, float]], direction: int) -> None:
    """Join the points that no other one equals or beats at no more cost."""
    best = -math.inf
    front = []
    for x, y in sorted(points, key=lambda point: (point[0], -direction * point[1])):
        if direction * y > best:
            best = direction * y
            front.append((x, y))
    axes.plot(*zip(*front, strict=True), color=style.INK, linestyle=":", linewidth=1.0, zorder=0.5)


def _span(values: Sequence[float]) -> float:
    return max(values) / min(values)

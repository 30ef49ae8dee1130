"""Figures of means over boards: EmCoop's radar, the causes of failed attempts, and outcome against cost."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from maeil.metrics import METRICS, Better
from maeil.tasks import Constraint
from quorum.comparison.comparison import Comparison
from quorum.comparison.figures import captions, style
from quorum.comparison.figures.registry import Drawing, figure
from quorum.comparison.figures.scales import scale
from quorum.comparison.metrics import arrow
from quorum.comparison.statistics.intervals import Floats
from quorum.configuration.origin import Scalar

_MARGINS = style.Margins(left=0.1, right=0.1, top=0.28, bottom=0.08)
_RINGS = (0.25, 0.5, 0.75, 1.0)
_FEWEST = 3
_RELATIVE = "capability.gain_rate"
_AXES = {
    "constraints.satisfied_spatial": "SP",
    "constraints.satisfied_temporal": "TM",
    "constraints.satisfied_dependency": "DP",
    "constraints.satisfied_participation": "PT",
    "plans.coherence": "PC",
    _RELATIVE: "CG",
    "plans.stability": "PS",
}
"""The axes of the radar: the label of each metric."""


@figure("radar")
def radar(comparison: Comparison) -> Iterator[Drawing]:
    """Draw one chart for each value of `across`, if at least three axes are informative.

    The axes are EmCoop's: the constraints, plan coherence, capability gain and plan stability. An axis with the same
    value in all groups, such as capabilities in a world without any, is named below the chart instead.
    """
    means = {key: {metric: group.mean(metric) for metric in _AXES} for key, group in comparison.groups.items()}
    reasons = {metric: _says_nothing([mean[metric] for mean in means.values()]) for metric in _AXES}
    shown = [metric for metric, reason in reasons.items() if not reason]
    if len(shown) < _FEWEST:
        return
    if _RELATIVE in shown:
        largest = max(mean[_RELATIVE] for mean in means.values())
        for mean in means.values():
            mean[_RELATIVE] /= largest
    drawn = style.sheet(len(comparison.points), height=2.2, margins=_MARGINS)
    angles = np.linspace(0, 2 * np.pi, len(shown), endpoint=False)
    for _, axes, point in style.panels(drawn, comparison):
        _web(axes, angles, [_AXES[metric] for metric in shown])
        for level in comparison.levels:
            found = means.get((level, point))
            if found is not None:
                x, y = _ring(angles, np.array([found[metric] for metric in shown]))
                axes.plot(x, y, **style.look(comparison, level), linewidth=1.2, markersize=3, markeredgewidth=0)
    meaning = "SP spatial, TM temporal, DP dependency, PT participation: share of attempts that satisfied it."
    meaning += " PC plan coherence, PS plan stability"
    meaning += ". CG capability gain, 1 the largest here" if _RELATIVE in shown else ""
    meaning += ". Means."
    if len(shown) < len(_AXES):
        left_out = (f"{_AXES[metric]} ({reason})" for metric, reason in reasons.items() if reason)
        meaning += f" Not drawn: {', '.join(left_out)}."
    yield Drawing(captions.subject(comparison, shown), style.finish(drawn, comparison, meaning))


def _says_nothing(means: Sequence[float]) -> str:
    """Return why the means of an axis do not distinguish groups; empty if they do, or with a single group."""
    if any(map(math.isnan, means)):
        return "undefined in a group"
    if not any(means):
        return "0 in all groups"
    same = len(means) > 1 and math.isclose(min(means), max(means), abs_tol=1e-9)
    return f"{means[0]:.3g} in all groups" if same else ""


def _web(axes: Axes, angles: Floats, names: Sequence[str]) -> None:
    """Draw the spokes and the rings on plain axes, which take a third of the time of Matplotlib's polar axes."""
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.set_xlim(-1.25, 1.25)
    axes.set_ylim(-1.25, 1.25)
    rings = [np.column_stack(_ring(angles, np.full(len(angles), radius))) for radius in _RINGS]
    spokes = [np.array([[0, 0], [np.cos(angle), np.sin(angle)]]) for angle in angles]
    axes.add_collection(LineCollection([*rings, *spokes], colors=style.GRID, linewidths=0.6, zorder=0.5))
    between = np.pi / len(angles)  # below the first spoke, where no spoke crosses the number
    at = 0.5 * np.cos(between)
    axes.text(at * np.cos(between), -at * np.sin(between), "0.5", fontsize=6, ha="center", va="center")
    for angle, name in zip(angles, names, strict=True):
        axes.text(1.14 * np.cos(angle), 1.14 * np.sin(angle), name, ha="center", va="center")


def _ring(angles: Floats, radii: Floats) -> tuple[Floats, Floats]:
    """Return the x and y coordinates of a closed ring."""
    x, y = radii * np.cos(angles), radii * np.sin(angles)
    return np.append(x, x[0]), np.append(y, y[0])


MISSING = {f"constraints.missing_{name}": str(name) for name in (*Constraint, "none")}
_LABELS = {"none": "none of these"}


@figure("failures")
def failures(comparison: Comparison) -> Iterator[Drawing]:
    """Draw the failed attempts a run by cause, a panel for each value of `across`, if any failed."""
    means, shown = group_means(comparison, MISSING)
    if not shown:
        return
    drawn = style.sheet(len(comparison.points), height=1.8, margins=style.Margins(bottom=0.3))
    width = 0.8 / len(comparison.levels)
    highest = max(means.values())
    for place, axes, point in style.panels(drawn, comparison):
        for number, level in enumerate(comparison.levels):
            if (level, point) in comparison.groups:
                places = np.arange(len(shown)) - 0.4 + width * (number + 0.5)
                heights = [means[level, point, metric] for metric in shown]
                axes.bar(places, heights, width * 0.92, color=style.colour(comparison, level))
        axes.set_xticks(range(len(shown)), [_LABELS.get(MISSING[metric], MISSING[metric]) for metric in shown])
        if not any(means[level, point, metric] for level in comparison.levels for metric in shown):
            axes.text(0.5, 0.5, "none failed", transform=axes.transAxes, ha="center", va="center")
        axes.tick_params(axis="x", length=0)
        axes.set_ylabel("failed attempts" if drawn.first_column(place) else "")
        axes.tick_params(axis="y", labelleft=drawn.first_column(place))
        axes.set_ylim(0, 1.05 * highest)
        axes.set_xlim(-0.6, len(shown) - 0.4)
        style.grid(axes, "y")
    remark = "Failed attempts per run by cause: the first condition that each failed. Means over boards."
    title = f"Failed attempts by cause, by {', '.join(map(style.name_of, comparison.by))}"
    yield Drawing(title, style.finish(drawn, comparison, remark, line=False))


Means = Mapping[tuple[str, Scalar, str], float]
"""By level, value of `across` and metric; 0 if no run defines it."""


def group_means(comparison: Comparison, metrics: Collection[str]) -> tuple[Means, list[str]]:
    """Return the means of metrics, and the metrics with a mean other than 0."""
    means: defaultdict[tuple[str, Scalar, str], float] = defaultdict(float)
    for (level, point), group in comparison.groups.items():
        for metric in metrics:
            mean = group.mean(metric)
            means[level, point, metric] = 0.0 if math.isnan(mean) else mean
    return means, [metric for metric in metrics if any(mean for (*_, own), mean in means.items() if own == metric)]


COSTS = ("model.usd", "model.completion_tokens", "communication.messages", "decision.thoughts")
"""Candidates for cost: the first that every group defines and that is above 0 in some group."""
OUTCOMES = ("outcome.completion", "outcome.steps")
"""Candidates for the outcome, after the compared metrics."""


@figure("pareto")
def pareto(comparison: Comparison) -> Iterator[Drawing]:
    """Draw mean outcome against mean cost, a point for each level, a panel for each value of `across`.

    Draws nothing if nothing has a cost, or if all outcomes are equal.
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
    for place, axes, point in style.panels(drawn, comparison):
        here = {level: points[level, point] for level in comparison.levels if (level, point) in points}
        for level, (x, y) in here.items():
            axes.plot(x, y, linestyle="", **style.look(comparison, level), markersize=5)
        _front(axes, list(here.values()), METRICS[outcome].better)
        axes.margins(0.12)
        scale(axes, "x", cost)
        scale(axes, "y", outcome)
        axes.set_xlabel(f"{METRICS[cost].title} per run" if drawn.bottom_row(place) else "")
        axes.set_ylabel(METRICS[outcome].title + arrow(outcome) if drawn.first_column(place) else "")
        style.grid(axes)
    remark = "Means over boards. Dotted: the Pareto front, where nothing is better in both outcome and cost."
    title = f"{captions.subject(comparison, [outcome])}, against {METRICS[cost].title}"
    yield Drawing(title, style.finish(drawn, comparison, remark))


def _outcome(comparison: Comparison) -> str | None:
    """Choose the first metric with a better direction in which the groups differ."""
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
    """Join the points that no other point equals or beats at the same or a lower cost."""
    sign = -1 if better == "lower" else 1
    best = -math.inf
    front = []
    for x, y in sorted(points, key=lambda point: (point[0], -sign * point[1])):
        if sign * y > best:
            best = sign * y
            front.append((x, y))
    axes.plot(*zip(*front, strict=True), color=style.INK, linestyle=":", linewidth=1.0, zorder=0.5)

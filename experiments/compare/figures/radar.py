"""The cooperation metrics as a radar chart, after EmCoop's Figure 3."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from quorum.experiments.compare.comparison import Comparison
from quorum.experiments.compare.factors import written
from quorum.experiments.compare.figures import style
from quorum.experiments.compare.figures.registry import Drawing, figure
from quorum.experiments.compare.metrics import RADARS
from quorum.experiments.compare.statistics.aggregates import Floats

_MARGINS = style.Margins(left=0.1, right=0.1, top=0.28, bottom=0.08)
_RINGS = (0.25, 0.5, 0.75, 1.0)
_FEWEST = 3
_RELATIVE = "capability.gain_rate"


@figure("radar")
def radar(comparison: Comparison) -> Iterator[Drawing]:
    """Draw one chart for each value of `across`; nothing where fewer than three axes say anything.

    The axes are EmCoop's: the constraints, plan coherence, capability gain and plan stability.
    """
    labels, says = RADARS[comparison.radar]
    means = {key: {metric: group.mean(metric) for metric in labels} for key, group in comparison.groups.items()}
    largest = max((mean[_RELATIVE] for mean in means.values()), default=0.0)
    shown = [
        metric
        for metric in labels
        if all(not np.isnan(mean[metric]) for mean in means.values()) and (metric != _RELATIVE or largest > 0)
    ]
    if len(shown) < _FEWEST:
        return
    if _RELATIVE in shown:
        for mean in means.values():
            mean[_RELATIVE] /= largest
    drawn = style.sheet(len(comparison.points), height=2.2, margins=_MARGINS)
    angles = np.linspace(0, 2 * np.pi, len(shown), endpoint=False)
    for axes, point in zip(drawn.panels, comparison.points, strict=True):
        _web(axes, angles, [labels[metric] for metric in shown])
        if comparison.across is not None:
            style.title(axes, f"{comparison.across} = {style.clipped(written(point), 14)}")
        for level in comparison.levels:
            found = means.get((level, point))
            if found is not None:
                x, y = _ring(angles, np.array([found[metric] for metric in shown]))
                axes.plot(
                    x, y, color=style.colour(comparison, level), linewidth=1.2,
                    marker=style.marker(comparison, level), markersize=3, markeredgewidth=0,
                )  # fmt: skip
    meaning = f"SP spatial, TM temporal, DP dependency, PT participation: {says}. PC plan coherence, PS plan stability"
    meaning += "; CG capability gain, 1 the largest here" if _RELATIVE in shown else ""
    name = f"Cooperation metrics by {', '.join(comparison.by)}: {', '.join(shown)}"
    yield Drawing(name, style.finish(drawn, comparison, f"{meaning}. Means."))


def _web(axes: Axes, angles: Floats, names: Sequence[str]) -> None:
    """Draw the spokes and the rings on plain axes, which take a third of the time of Matplotlib's polar ones."""
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.set_xlim(-1.25, 1.25)
    axes.set_ylim(-1.25, 1.25)
    rings = [np.column_stack(_ring(angles, np.full(len(angles), radius))) for radius in _RINGS]
    spokes = [np.array([[0, 0], [np.cos(angle), np.sin(angle)]]) for angle in angles]
    axes.add_collection(LineCollection([*rings, *spokes], colors=style.GRID, linewidths=0.6, zorder=0.5))
    axes.text(0.5, 0.02, "0.5", fontsize=6, ha="right", va="bottom")
    for angle, name in zip(angles, names, strict=True):
        axes.text(1.14 * np.cos(angle), 1.14 * np.sin(angle), name, ha="center", va="center")


def _ring(angles: Floats, radii: Floats) -> tuple[Floats, Floats]:
    """Return the corners of a closed ring, x and y."""
    x, y = radii * np.cos(angles), radii * np.sin(angles)
    return np.append(x, x[0]), np.append(y, y[0])

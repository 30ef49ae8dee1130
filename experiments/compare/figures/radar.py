"""The cooperation metrics as a radar chart, after EmCoop's Figure 3."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from experiments.compare.comparison import Comparison, Group
from experiments.compare.factors import written
from experiments.compare.figures import style

AXES = {
    "constraints.satisfied_spatial": "SP",
    "constraints.satisfied_temporal": "TM",
    "constraints.satisfied_dependency": "DP",
    "constraints.satisfied_participation": "PT",
    "plans.coherence": "PC",
    "capability.gain_rate": "CG",
    "plans.stability": "PS",
}
"""EmCoop's axes: shares of attempts in which each constraint held, plan coherence, capability gain, plan stability."""
_MEANING = (
    "SP spatial, TM temporal, DP dependency, PT participation: share of attempts in which it held. "
    "PC plan coherence, PS plan stability"
)
_MARGINS = style.Margins(left=0.3, right=0.3, top=0.4, bottom=0.25)
_FEWEST = 3
_RELATIVE = "capability.gain_rate"


def draw(comparison: Comparison) -> Iterator[tuple[str, str, Figure]]:
    """Draw one chart for each value of `across`; nothing where fewer than three axes say anything."""
    means = {key: {metric: _mean(group, metric) for metric in AXES} for key, group in comparison.groups.items()}
    largest = max((mean[_RELATIVE] for mean in means.values()), default=0.0)
    shown = [
        metric
        for metric in AXES
        if all(not np.isnan(mean[metric]) for mean in means.values()) and (metric != _RELATIVE or largest > 0)
    ]
    if len(shown) < _FEWEST:
        return
    if _RELATIVE in shown:
        for mean in means.values():
            mean[_RELATIVE] /= largest
    drawn = style.sheet(len(comparison.points), height=2.3, margins=_MARGINS, polar=True)
    angles = np.linspace(0, 2 * np.pi, len(shown), endpoint=False)
    for axes, point in zip(drawn.panels, comparison.points, strict=True):
        if comparison.across is not None:
            axes.set_title(f"{comparison.across} = {style.clipped(written(point), 14)}", y=1.14, pad=0)
        for level in comparison.levels:
            found = means.get((level, point))
            if found is not None:
                values = np.array([found[metric] for metric in shown])
                ring = np.append(values, values[0])
                colour = style.colour(comparison, level)
                axes.plot(
                    np.append(angles, angles[0]), ring, color=colour, linewidth=1.2,
                    marker=style.marker(comparison, level), markersize=3, markeredgewidth=0,
                )  # fmt: skip
        axes.set_xticks(angles, [AXES[metric] for metric in shown])
        axes.tick_params(axis="x", pad=-2)
        axes.set_ylim(0, 1)
        axes.set_yticks([0.25, 0.5, 0.75, 1.0], ["", "0.5", "", "1"])
        axes.tick_params(axis="y", labelsize=6)
        axes.spines["polar"].set_linewidth(0.5)
        style.grid(axes)
    meaning = _MEANING + ("; CG capability gain, 1 the largest here" if _RELATIVE in shown else "")
    name = f"Cooperation metrics by {', '.join(comparison.by)}: {', '.join(shown)}"
    yield "radar", name, style.finish(drawn, comparison, f"{meaning}. Means.")


def _mean(group: Group, metric: str) -> float:
    values = group.values(metric)
    return float(values.mean()) if len(values) else float("nan")

"""The score along the steps, a line a level with its interval, a panel a value of `across`."""

from __future__ import annotations

from collections.abc import Iterator

from quorum.experiments.compare.comparison import Comparison
from quorum.experiments.compare.factors import short, written
from quorum.experiments.compare.figures import style
from quorum.experiments.compare.figures.registry import Drawing, figure
from quorum.experiments.compare.tables import STATISTIC_NAMES


@figure("curves")
def curves(comparison: Comparison) -> Iterator[Drawing]:
    """Draw the curves, where they were asked for."""
    if not comparison.curves:
        return
    drawn = style.sheet(len(comparison.points), height=2.0)
    shade = min(0.2, 0.5 / len(comparison.levels))
    for place, (axes, point) in enumerate(zip(drawn.panels, comparison.points, strict=True)):
        for level in comparison.levels:
            found = comparison.curves.get((level, point))
            if found is None or not found.steps:
                continue
            colour = style.colour(comparison, level)
            low, high = [e.low for e in found.estimates], [e.high for e in found.estimates]
            axes.fill_between(found.steps, low, high, color=colour, alpha=shade, linewidth=0)
            axes.plot(
                found.steps, [e.value for e in found.estimates], color=colour, linewidth=1.2,
                marker=style.marker(comparison, level), markersize=3, markevery=0.25,
            )  # fmt: skip
        if comparison.across is not None:
            style.title(axes, f"{short(comparison.across)} = {style.clipped(written(point), 20)}")
        axes.set_xlabel("environment step" if drawn.bottom_row(place) else "")
        axes.set_ylabel("score" if drawn.first_column(place) else "")
        style.grid(axes, "y")
    remark = f"Score after each step: {STATISTIC_NAMES[comparison.statistic]} over runs with 95 % interval."
    yield Drawing(f"Score along the steps, by {', '.join(comparison.by)}", style.finish(drawn, comparison, remark))

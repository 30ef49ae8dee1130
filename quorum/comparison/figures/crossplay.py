"""Cross-play: how well each mind plays with each other mind, as a matrix."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from maeil.metrics import METRICS
from quorum.comparison.comparison import Comparison
from quorum.comparison.factors import value_of
from quorum.comparison.figures import style
from quorum.comparison.figures.registry import Drawing, figure
from quorum.comparison.formats import ARROWS
from quorum.comparison.groups import Group
from quorum.comparison.metrics import arrow
from quorum.comparison.tables import STATISTIC_NAMES

_CELL = 0.42
"""Height of a cell, in inches."""
_DARKEST = 0.6
"""Opacity of the cell with the largest value: text on it stays legible, also in dark mode."""


@figure("crossplay")
def crossplay(comparison: Comparison) -> Iterator[Drawing]:
    """Draw a matrix for each metric, with a panel for each value of `across`, if each mind plays with each.

    A row is the mind of the team (`agents`); a column is the mind of the members that have another one
    (`agents.members`).
    """
    cells = {key: pair for key, group in comparison.groups.items() if (pair := _pair(group)) is not None}
    minds = list(dict.fromkeys(own for own, _ in cells.values()))
    every = {(own, other, point) for own in minds for other in minds for point in comparison.points}
    if len(minds) < 2 or len(cells) != len(every) or {(*pair, key[1]) for key, pair in cells.items()} != every:
        return
    margins = style.Margins(left=0.2 + 0.062 * max(map(len, minds)))
    for metric in comparison.metrics:
        drawn = style.sheet(len(comparison.points), height=0.75 + _CELL * len(minds), columns=2, margins=margins)
        values = {key: comparison.estimates[metric, *key].value for key in cells}
        for _, axes, point in style.panels(drawn, comparison):
            _matrix(axes, minds, {cells[key]: value for key, value in values.items() if key[1] == point})
        what = f"{STATISTIC_NAMES[comparison.statistic]} of {METRICS[metric].title}{arrow(metric)}".capitalize()
        remark = f"{what}. Row: the mind of the team; column: the mind that replaces it in some members. {ARROWS}"
        title = f"{metric} of teams that mix two minds, for each pair"
        yield Drawing(title, style.finish(drawn, comparison, remark, legend=False), f"crossplay.{metric}")


def _pair(group: Group) -> tuple[str, str] | None:
    """Return the mind of a team and the other mind of some members; None if there are several others."""
    labels = {str(value_of(row, "members")) for row in group.rows}
    own, *others = labels.pop().split("+")
    if labels or len(others) > 1:
        return None
    return own, others[0].partition("@")[0] if others else own


def _matrix(axes: Axes, minds: Sequence[str], values: Mapping[tuple[str, str], float]) -> None:
    """Draw the value of each pair on a cell; larger values are darker."""
    largest = max((abs(value) for value in values.values() if not math.isnan(value)), default=0) or 1
    for (own, other), value in values.items():
        row, column = minds.index(own), minds.index(other)
        if math.isnan(value):
            continue
        alpha = _DARKEST * abs(value) / largest
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, color=style.COLOURS[0], alpha=alpha, linewidth=0))
        axes.text(column, row, f"{value:.3g}", ha="center", va="center")
    axes.set_xticks(range(len(minds)), minds)
    axes.set_yticks(range(len(minds)), minds)
    axes.set_xlim(-0.5, len(minds) - 0.5)
    axes.set_ylim(len(minds) - 0.5, -0.5)

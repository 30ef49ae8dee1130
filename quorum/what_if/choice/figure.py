"""The figure of a choice probe: what the messages do to the log-odds of the task that they name, by model."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from matplotlib.figure import Figure

from quorum.comparison.figures import style
from quorum.what_if.choice.arms import CONTROLS
from quorum.what_if.choice.rows import Row

_LINE, _FOOT, _TOP, _LEFT = 0.14, 0.58, 0.1, 1.05
_REMARK = (
    "Log-odds of the task that the messages name, as heard minus in each control arm; bars: 95% intervals over boards."
)


def draw(rows: Sequence[Row]) -> Figure:
    """Draw the effect of each control arm with its interval, within `style.styled`; one colour for each model."""
    rows = [row for row in rows if row.arm in CONTROLS]
    groups = list(dict.fromkeys((row.model, row.by) for row in rows))
    both = len({by for _, by in groups}) > 1
    arms = [arm for arm in CONTROLS if any(row.arm == arm for row in rows)]
    sheet = style.sheet(1, height=0)
    axes, figure = sheet.panels[0], sheet.figure
    remark = wrap(_REMARK, 60)
    panel = 0.3 + len(arms) * (0.1 + 0.13 * len(groups))
    foot = _FOOT + _LINE * (len(remark) + len(groups))
    height = _TOP + panel + foot
    figure.set_size_inches(style.COLUMN, height)
    right = style.COLUMN - _LEFT - 0.1
    axes.set_position((_LEFT / style.COLUMN, foot / height, right / style.COLUMN, panel / height))
    for number, (model, by) in enumerate(groups):
        colour, marker = style.COLOURS[number % len(style.COLOURS)], style.MARKERS[number % len(style.MARKERS)]
        name = style.clipped(f"{model}, {by}" if both else model, 42)
        axes.plot([], [], color=colour, marker=marker, linestyle="", markersize=4, label=name)
        for row in (row for row in rows if (row.model, row.by) == (model, by)):
            place = arms.index(row.arm) + 0.7 * ((number + 0.5) / len(groups) - 0.5)
            axes.plot([row.effect.low, row.effect.high], [place, place], color=colour, linewidth=1.2)
            axes.plot([row.effect.value], [place], color=colour, marker=marker, markersize=4)
    axes.axvline(0, color=style.INK, linewidth=0.6)
    axes.set_yticks(range(len(arms)), arms)
    axes.set_ylim(len(arms) - 0.5, -0.5)
    axes.set_xlabel("change of the log-odds by hearing")
    style.grid(axes, "x")
    figure.text(0.5, 0.04 / height, "\n".join(remark), ha="center", va="bottom", fontsize=6.5, linespacing=1.25)
    above = (0.08 + _LINE * len(remark)) / height
    figure.legend(loc="lower center", ncols=1, frameon=False, bbox_to_anchor=(0.5, above), labelspacing=0.3)
    return figure

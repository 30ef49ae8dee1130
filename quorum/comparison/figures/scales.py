"""The range of an axis that shows a metric: the whole of a share, and never so little that noise fills the panel."""

from __future__ import annotations

from typing import Literal

from matplotlib.axes import Axes

from maeil.metrics import METRICS

_QUARTERS = (0, 0.25, 0.5, 0.75, 1)
_EDGE = 0.05
"""Space beyond 0 and 1, so that marks there are whole."""
_LEAST = 0.25
"""Smallest range, as a share of 1 for rates, and of the largest value for other metrics."""


def scale(axes: Axes, axis: Literal["x", "y"], metric: str, *, difference: bool = False, largest: float = 0.0) -> None:
    """Set the range of an axis whose marks are drawn.

    Args:
        axes: the panel.
        axis: the axis.
        metric: the metric that it shows.
        difference: whether it shows differences: then 0 is in the range.
        largest: the largest value of the metric, if the axis does not show it.
    """
    found = METRICS[metric]
    set_range = axes.set_xlim if axis == "x" else axes.set_ylim
    if found.share and not difference:
        set_range(-_EDGE, 1 + _EDGE)
        (axes.set_xticks if axis == "x" else axes.set_yticks)(_QUARTERS)
        return
    if difference:
        (axes.axvline if axis == "x" else axes.axhline)(0, color=axes.spines["left"].get_edgecolor(), linewidth=0.7)
    low, high = axes.get_xlim() if axis == "x" else axes.get_ylim()
    missing = _LEAST * (1.0 if found.rate else max(abs(low), abs(high), largest)) - (high - low)
    if missing > 0:
        low, high = low - missing / 2, high + missing / 2
    if found.rate and not difference:  # keep within 0 to 1
        shift = max(0.0, -_EDGE - low) - max(0.0, high - 1 - _EDGE)
        low, high = low + shift, high + shift
    set_range(low, high)

"""The figures of the scaling study: against n, and the heat map of symbolic actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from benchmarks.cube_speed.parts import action_names
from benchmarks.cube_speed.published import Series
from benchmarks.cube_speed.study import Measured
from quorum.comparison.figures import style

_UNITS = {"s": "time", "MB": "MB", "%": "percent of a core"}


def drawn(measured: Measured, published: Sequence[Series]) -> Mapping[str, Figure]:
    """Draw the study within `style.styled`; return its figures by name."""
    actions = [name for name in measured if name in action_names()]
    series = {one.quantity: one for one in published}
    groups = {
        "step": [name for name in measured if name.startswith("step")],
        "memory": ["memory"],
        "CPU": ["CPU"],
        "symbolic action, one agent": [name for name in actions if name in series],
    }
    return {"scaling": _panels(groups, measured, series), "action_heatmap": _heatmap(measured, actions)}


def _panels(groups: Mapping[str, Sequence[str]], measured: Measured, series: Mapping[str, Series]) -> Figure:
    """Draw one panel per group: solid lines for measured values, dashed lines for published ones."""
    figure = Figure(figsize=(style.PAGE, 5.2), layout="constrained")
    for axes, (title, names) in zip(figure.subplots(2, 2).flat, groups.items(), strict=True):
        for number, name in enumerate(names):
            colour = style.COLOURS[number % len(style.COLOURS)]
            axes.plot(*zip(*measured[name].items(), strict=True), "o-", color=colour, label=name, markersize=3)
            if (there := series.get(name)) is not None:
                shown = [(n, v) for n, v in zip(there.sizes, there.values, strict=True) if v > 0]
                axes.plot(*zip(*shown, strict=True), "s--", color=colour, markersize=3, markerfacecolor="none")
        unit = next(series[name].unit for name in names if name in series)
        _frame(axes, title, _UNITS[unit], log=unit == "s")
    figure.supxlabel("Lines: here. Dashes: published, another machine.", fontsize=6.5)
    return figure


def _frame(axes: Axes, title: str, unit: str, *, log: bool) -> None:
    style.title(axes, title)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:g}"))
    axes.set_xlabel("n")
    axes.set_ylabel(unit)
    if log:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(_seconds))
    axes.legend(fontsize=5, frameon=False)
    style.grid(axes)


def _heatmap(measured: Measured, names: Sequence[str]) -> Figure:
    """Draw the seconds of one agent's tick by action and n."""
    sizes = list(measured[names[0]])
    values = np.array([[measured[name][n] for n in sizes] for name in names])
    figure = Figure(figsize=(style.PAGE, 1.0 + 0.3 * len(names)), layout="constrained")
    axes = figure.subplots()
    norm = LogNorm(values.min(), 2 * values.max())
    image = axes.imshow(values, norm=norm, cmap="YlGnBu", aspect="auto")
    axes.set_xticks(range(len(sizes)), map(str, sizes))
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("n")
    style.title(axes, "One tick of a symbolic action, one agent, here")
    for (row, column), value in np.ndenumerate(values):
        colour = "white" if norm(value) > 0.6 else "black"
        axes.text(column, row, _seconds(value, 0), ha="center", va="center", fontsize=6, color=colour)
    bar = figure.colorbar(image, ax=axes)
    bar.ax.yaxis.set_major_formatter(FuncFormatter(_seconds))
    bar.ax.yaxis.set_minor_formatter(NullFormatter())
    return figure


def _seconds(value: float, _: object) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-6:.3g} µs"

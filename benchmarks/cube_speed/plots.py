"""The figures of the scalability study, as PNG and SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from benchmarks.cube_speed.published import ACTION_SECONDS, CPU_PERCENT, MEMORY_MB, SOURCE, STEP_SECONDS
from benchmarks.cube_speed.study import ActionCost, Growth, Study

OURS, OURS_TOO, PUBLISHED = "#0072B2", "#56B4E9", "#D55E00"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8c6d31", "#7f7f7f", "#b2182b")
SMALLEST_PUBLISHED = 0.00005
"""Seconds that the published figures, given to four decimals, cannot tell from 0."""


def draw(study: Study, folder: Path) -> list[Path]:
    """Draw every figure of the study into a folder; give the files."""
    figures = {
        "step_time": _step_time(study.growth),
        "memory_cpu": _memory_cpu(study.growth),
        "action_time": _action_time(study.actions),
        "action_heatmap": _heatmap(study.actions),
    }
    files = []
    for name, figure in figures.items():
        FigureCanvasAgg(figure)
        for suffix in ("png", "svg"):
            file = folder / f"{name}.{suffix}"
            figure.savefig(file, dpi=150)
            files.append(file)
    return files


def _step_time(growth: Sequence[Growth]) -> Figure:
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    _line(axes, STEP_SECONDS, PUBLISHED, f"published ({SOURCE})", "s--")
    _line(axes, {g.n: g.random_seconds for g in growth}, OURS, "Quorum, random actions", "o-")
    _line(axes, {g.n: g.right_seconds for g in growth}, OURS_TOO, "Quorum, always right", "^-")
    _frame(axes, "Step of CUBE through the PettingZoo API, one core", "time of a step")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(_seconds))
    return figure


def _memory_cpu(growth: Sequence[Growth]) -> Figure:
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    memory, cpu = figure.subplots(1, 2)
    _line(memory, MEMORY_MB, PUBLISHED, f"published ({SOURCE})", "s--")
    _line(memory, {g.n: g.memory_mb for g in growth}, OURS, "Quorum, peak", "o-")
    _frame(memory, "Memory of the process", "MB")
    memory.set_ylim(bottom=0)
    _line(cpu, CPU_PERCENT, PUBLISHED, "published, pace not stated", "s--")
    _line(cpu, {g.n: g.cpu_percent for g in growth}, OURS, "Quorum at 20 steps a second", "o-")
    _frame(cpu, "CPU", "percent of a core")
    cpu.set_ylim(0, 100)
    return figure


def _action_time(costs: Sequence[ActionCost]) -> Figure:
    figure = Figure(figsize=(11, 4.8), layout="constrained")
    agent, team = figure.subplots(1, 2, sharey=True)
    names = list(dict.fromkeys(cost.action for cost in costs))
    for name, colour in zip(names, _cycled(len(names)), strict=True):
        mine = [cost for cost in costs if cost.action == name]
        _line(agent, {c.n: c.agent_seconds for c in mine}, colour, name, "o-")
        _line(team, {c.n: c.team_seconds for c in mine}, colour, name, "o-")
        published = {n: value for n, value in ACTION_SECONDS.get(name, {}).items() if value > SMALLEST_PUBLISHED}
        if published:
            _line(agent, published, colour, None, ":")
    agent.plot([], [], ":", color="#444444", label=f"published\n({SOURCE})")
    _frame(agent, "One tick of a symbolic action, one agent", "time of a tick")
    _frame(team, "One tick, the whole team together", "")
    agent.set_yscale("log")
    agent.yaxis.set_major_formatter(FuncFormatter(_seconds))
    agent.legend(fontsize=7, ncols=2, loc="upper left", frameon=False)
    team.legend().remove()
    return figure


def _heatmap(costs: Sequence[ActionCost]) -> Figure:
    names = list(dict.fromkeys(cost.action for cost in costs))
    sizes = sorted({cost.n for cost in costs})
    values = np.array([[next(c for c in costs if (c.action, c.n) == (name, n)).agent_seconds for n in sizes]
                       for name in names])  # fmt: skip
    figure = Figure(figsize=(1.6 + 0.75 * len(sizes), 1.4 + 0.42 * len(names)), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(values, norm=LogNorm(values.min(), max(values.max(), 2 * values.min())), cmap="YlGnBu",
                        aspect="auto")  # fmt: skip
    axes.set_xticks(range(len(sizes)), [str(n) for n in sizes])
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("n")
    axes.set_title("One tick of a symbolic action, one agent")
    middle = np.sqrt(values.min() * values.max())
    for row, line in enumerate(values):
        for column, value in enumerate(line):
            colour = "white" if value > 1.5 * middle else "black"
            axes.text(column, row, _seconds(value, 0), ha="center", va="center", fontsize=7, color=colour)
    bar = figure.colorbar(image, ax=axes)
    bar.ax.yaxis.set_major_formatter(FuncFormatter(_seconds))
    bar.ax.yaxis.set_minor_formatter(NullFormatter())
    return figure


def _line(axes: Axes, values: Mapping[int, float], colour: str, label: str | None, style: str) -> None:
    axes.plot(list(values), list(values.values()), style, color=colour, label=label, markersize=4, linewidth=1.4)


def _frame(axes: Axes, title: str, unit: str) -> None:
    axes.set_title(title, fontsize=11)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:g}"))
    axes.set_xlabel("n (agents)")
    axes.set_ylabel(unit)
    axes.grid(alpha=0.25)
    axes.legend(fontsize=8, frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _cycled(number: int) -> list[str]:
    return [COLOURS[index % len(COLOURS)] for index in range(number)]


def _seconds(value: float, _: object) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-6:.3g} µs"

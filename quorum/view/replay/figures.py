"""Figures of an episode for papers: the viewer's lanes, in the viewer's colours.

`trace` is EmCoop's trace figure (arXiv 2603.00349, project page: "Trace visualization"): cognitive activity and messages;
primitive execution; constraint satisfaction and capability changes.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from textwrap import wrap

import msgspec
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from maeil.world import closing_world
from quorum.comparison.figures.style import clipped, sheet
from quorum.display.sanitize import sanitize
from quorum.runs.recorded_episode import RecordedEpisode
from quorum.runs.run_folder import RunFolder
from quorum.view import viewer
from quorum.view.replay.replay import label_of
from quorum.view.viewer.calls import Calls
from quorum.view.viewer.film import primitive_names
from quorum.view.viewer.lanes import LaneBuilder
from quorum.view.viewer.pages import Json
from quorum_base.drawing import Drawable

STAGES = {
    "R": ("reason", "stage-r", 0.8, "....."),
    "W": ("wait", "stage-w", 0.2, ""),
    "X": ("execute", "stage-x", 0.8, ""),
    "I": ("interrupted", "stage-i", 0.8, "/////"),
    "O": ("off turn", "line", 0.2, ""),
}
"""Name, colour, height in a row, and hatch of each stage."""
OUTCOMES = {
    "success": ("success", "ok", ""),
    "failed": ("failed", "bad", "xxxxx"),
    "timeout": ("timed out", "late", "/////"),
    "cancelled": ("cancelled", "cut", "-----"),
    None: ("not ended", "running", ""),
}
"""Name, colour and hatch of each end of an action."""
CONSTRAINTS = ("spatial", "temporal", "participation", "dependency")
_ARROWS = {"up": "^", "down": "v", "left": "<", "right": ">"}
_NOTHING = frozenset({"stay", "noop", "nothing"})
_MOST_TASKS = 10
_LEFT, _RIGHT = 0.78, 0.06
"""Margins, in inches."""
_ROW, _HIGH_ROW, _LOW_ROW = 0.135, 0.2, 0.1
"""Heights of a row of stages, of actions and of a task, in inches."""
_HIGHEST = 4.0
"""Maximum height of a panel, in inches: of large teams, some names are left out."""
_SCORE = 4
"""Height of the score, in rows of tasks."""
_TOP, _TICKS, _FOOT_LINE = 0.2, 0.3, 0.11
_LETTER = 0.056
"""Width of a letter on a bar, in inches."""

Spans = dict[str, list[tuple[float, float]]]


@cache
def _colours() -> Mapping[str, str]:
    """The colours of the viewer in its light theme, by name."""
    css = (Path(viewer.__file__).parent / "static" / "style.css").read_text(encoding="utf-8")
    return dict(re.findall(r"--([\w-]+): light-dark\((#\w+),", css))


class TimeAxis:
    """One axis for both clocks, as in the viewer: a step has width 1, and the thinking before it is unfolded.

    Args:
        spans: for each step, the cognitive time at which its thinking begins and ends, and the number of thoughts.
        steps: number of steps.
    """

    def __init__(self, spans: list[tuple[float, float, int]], steps: int) -> None:
        self._spans = [*spans, *[(0.0, 0.0, 0)] * (steps + 1 - len(spans))]
        self.thinking = [min(8.0, 0.6 + 0.35 * n) if end > begin else 0.0 for begin, end, n in self._spans]
        self.starts = [0.0]
        for t, width in enumerate(self.thinking[: steps + 1]):
            self.starts.append(self.starts[-1] + width + (1 if t < steps else 0.5))

    def at(self, t: int, t_hat: float) -> float:
        """Return the position of an instant."""
        begin, end, _ = self._spans[t]
        share = min(1.0, max(0.0, (t_hat - begin) / (end - begin))) if end > begin else 0.0
        return self.starts[t] + share * self.thinking[t]

    def step(self, t: int) -> float:
        """Return the position at which the step from `t` starts."""
        return self.starts[t] + self.thinking[t]


def trace_figure(run: RecordedEpisode, first: int, last: int, width: float) -> Figure:
    """Draw the trace figure of a run, within `styled`.

    Args:
        run: the run.
        first: the first step to show.
        last: the last step to show.
        width: width of the figure, in inches.

    Raises:
        UserError: the world of the run cannot be built.
    """
    start, page = run.trace.start, _lanes(run)
    axis = TimeAxis(page["spans"], len(page["joint"]))
    names = [*start.agents, *start.coordinators]
    served = [task for task in page["tasks"] if any(spatial or temporal for _, _, spatial, temporal, *_ in task["changes"])]
    tasks = sorted(sorted(served, key=lambda task: -_work(task, first, last))[:_MOST_TASKS], key=served.index)
    drawn = sheet(3, height=1.0, columns=1)
    cognitive, primitive, constraints = drawn.panels
    limits = axis.starts[first], axis.starts[last + 1]
    scale = (width - _LEFT - _RIGHT) / (limits[1] - limits[0])
    _draw_stages(cognitive, page, axis, names)
    _draw_actions(primitive, page, axis, start.agents, _names_of_primitives(run, page), scale)
    _draw_tasks(constraints, page, axis, tasks)
    high = (_ROW * len(names), _HIGH_ROW * len(start.agents), _LOW_ROW * (_SCORE + 1 + len(tasks)))
    heights = [min(own, _HIGHEST) for own in high]
    texts = ("Cognitive activity and messages", "Primitive execution", "Constraints, capabilities and score")
    remarks = (
        "Simulated language model." if run.answering_models.simulated else "",
        f"{label_of(run)}. Shaded: the team thinks while the world stands still. Framed: all constraints at once.",
        f"{len(tasks)} of {len(served)} tasks, those with most work." if len(tasks) < len(served) else "",
        "" if any(first <= message["t"] <= last for message in page["messages"]) else "No messages.",
    )
    foot = wrap(" ".join(filter(None, remarks)), int(width * 19))
    handles = _legend()
    columns = max(2, int(width / 0.88))
    rows = -(-len(handles) // columns)
    height = sum(heights) + 3 * _TOP + _TICKS + _FOOT_LINE * (rows + len(foot)) + 0.14
    drawn.figure.set_size_inches(width, height)
    top = height
    for axes, high, text in zip(drawn.panels, heights, texts, strict=True):
        top -= _TOP + high
        axes.set_position((_LEFT / width, top / height, 1 - (_LEFT + _RIGHT) / width, high / height))
        axes.set_title(text, loc="left", y=1, pad=2.5)
        axes.set_xlim(*limits)
        thinking = [(axis.starts[t], wide) for t, wide in enumerate(axis.thinking) if wide]
        axes.broken_barh(thinking, (0, 1), transform=axes.get_xaxis_transform(), facecolor=_colours()["panel"], zorder=0)
        every = max(1, -(-(last - first) // max(2, int(width * 2.2))))
        ticks = range(first, last + 1, every)
        axes.set_xticks([axis.step(t) for t in ticks], list(map(str, ticks)) if axes is constraints else [])
        axes.tick_params(labelsize=6, length=2, pad=1.5)
        axes.tick_params(axis="y", length=0)
    constraints.set_xlabel("environment step", fontsize=6.5, labelpad=1)
    drawn.figure.legend(
        handles=handles, loc="lower center", ncols=columns, frameon=False, fontsize=6, handlelength=1.4, columnspacing=0.9,
        borderpad=0, labelspacing=0.25, bbox_to_anchor=(0.5, (0.06 + _FOOT_LINE * len(foot)) / height),
    )  # fmt: skip
    drawn.figure.text(0.5, 0.04 / height, "\n".join(foot), ha="center", va="bottom", fontsize=6, linespacing=1.2)
    return drawn.figure


FIGURES: Mapping[str, Callable[[RecordedEpisode, int, int, float], Figure]] = {"trace": trace_figure}
"""The figures of an episode, by name."""


def _lanes(run: RecordedEpisode) -> Json:
    """Return the lanes of an episode as one page of the viewer."""
    builder = LaneBuilder(Calls(RunFolder(run.folder)), sys.maxsize)
    for stamped in run.trace.events:
        builder.take(stamped, 0)
    builder.finish()
    page: Json = msgspec.json.decode(builder.pages.data(0))
    return {**page, "scores": builder.scores, "used": builder.used[0]}


def _names_of_primitives(run: RecordedEpisode, page: Json) -> Mapping[str, str]:
    with closing_world(run.world()) as world:
        return dict(primitive_names(world, page["used"])) if isinstance(world, Drawable) else {}


def _bars(axes: Axes, row: float, high: float, spans: Iterable[tuple[float, float]], name: str, hatch: str = "") -> None:
    """Draw bars around the middle of a row."""
    axes.broken_barh(
        [(begin, end - begin) for begin, end in spans], (row - high / 2, high), facecolor=_colours()[name],
        hatch=hatch, edgecolor="white", linewidth=0.2 if high > 0.3 else 0, zorder=2,
    )  # fmt: skip


def _rows(axes: Axes, names: Iterable[str]) -> None:
    shown = [clipped(sanitize(name, 40), 14) for name in names]
    every = -(-len(shown) // int(_HIGHEST / _LOW_ROW))
    axes.set_yticks(range(0, len(shown), every or 1), shown[:: every or 1])
    axes.set_ylim(len(shown) - 0.5, -0.5)


def _work(task: Json, first: int, last: int) -> int:
    """Return in how many of these steps agents worked at a task."""
    changes = task["changes"]
    ends = [*(change[0] for change in changes[1:]), last + 1]
    return sum(max(0, min(end, last + 1) - max(c[0], first)) for c, end in zip(changes, ends, strict=True) if c[4])


def _draw_stages(axes: Axes, page: Json, axis: TimeAxis, names: list[str]) -> None:
    for row, flat in enumerate(page["stages"]):
        changes = [(0.0, "R")]
        for t, t_hat, stage in (flat[i : i + 3] for i in range(0, len(flat), 4)):
            changes.append((axis.step(t) if stage == "X" else axis.at(t, t_hat), stage))
        spans: Spans = defaultdict(list)
        for (begin, stage), (end, _) in zip(changes, [*changes[1:], (axis.starts[-1], "")], strict=True):
            spans[stage].append((begin, end))
        for stage, found in spans.items():
            _, name, high, hatch = STAGES.get(stage, STAGES["W"])
            _bars(axes, row, high, found, name, hatch)
    lines, heads = [], defaultdict(list)
    for message in page["messages"]:
        sender, begin = message["sender"], axis.at(message["t"], message["t_hat"])
        end = max(begin, axis.at(message["t"], message["delivered_at"]))
        heads["o"].append((begin, sender))
        for reader in message["recipients"]:
            lines.append([(begin, sender), (end, reader)])
            heads["v" if reader > sender else "^"].append((end, reader + (-0.25 if reader > sender else 0.25)))
    axes.add_collection(LineCollection(lines, colors=_colours()["message"], linewidths=0.5, zorder=3))
    for marker, places in heads.items():
        axes.scatter(*zip(*places, strict=True), s=5, marker=marker, color=_colours()["message"], linewidths=0, zorder=4)
    _rows(axes, names)


def _draw_actions(
    axes: Axes, page: Json, axis: TimeAxis, agents: Iterable[str], primitives: Mapping[str, str], scale: float
) -> None:
    spans: dict[tuple[int, str | None], list[tuple[float, float]]] = defaultdict(list)
    for agent, _, _, name, t, _, end_t, end_hat, status, _ in page["actions"]:
        begin = axis.step(t)
        end = axis.starts[-1] if end_t is None else axis.at(end_t, end_hat) if end_t > t else begin
        spans[agent, status if status in OUTCOMES else None].append((begin, end))
        if (letters := int((end - begin) * scale / _LETTER)) > 2:
            text = name if len(name) <= letters else f"{name[: letters - 1]}…"
            box = {"facecolor": _colours()[OUTCOMES[status if status in OUTCOMES else None][1]], "pad": 0.4, "linewidth": 0}
            axes.text(
                begin + 0.03 / scale, agent - 0.2, text, fontsize=5, color="white", va="center", bbox=box, clip_on=True, zorder=3
            )  # fmt: skip
    for (agent, status), found in spans.items():
        _, colour, hatch = OUTCOMES[status]
        _bars(axes, agent - 0.2, 0.46, found, colour, hatch)
    marks: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for t, joint in enumerate(page["joint"]):
        for agent, code in enumerate(joint):
            name = primitives.get(str(code), str(code))
            marker = "_" if name in _NOTHING else _ARROWS.get(name.replace("move_", ""), "s")
            marks[marker].append((axis.step(t) + 0.5, agent + 0.28))
    size = min(3.2, 60 * scale)
    for marker, places in marks.items():
        colour = _colours()["primitive" if marker == "_" else "ink"]
        axes.scatter(*zip(*places, strict=True), s=size**2, marker=marker, color=colour, linewidths=0.4 if marker == "_" else 0, zorder=3)
    _rows(axes, agents)


def _draw_tasks(axes: Axes, page: Json, axis: TimeAxis, tasks: list[Json]) -> None:
    scores = [(0.0, 0.0), *((axis.starts[t], score) for t, _, _, score in page["scores"])]
    low, high = min(score for _, score in scores), max(score for _, score in scores)
    places = [-1 - (_SCORE - 1) * (score - low) / ((high - low) or 1) for _, score in scores]
    axes.step([*(x for x, _ in scores), axis.starts[-1]], [*places, places[-1]], where="post", color=_colours()["ink"], linewidth=0.9)
    for t, agent, _, gained in page["capabilities"]:
        axes.scatter(axis.step(t) + 0.5, -0.4, s=9, marker="^" if gained else "v", color=_colours()["ok" if gained else "bad"], linewidths=0)
    for row, task in enumerate(tasks):
        changes = task["changes"]
        ends = [*(change[0] for change in changes[1:]), len(page["joint"])]
        alive = [(c, (axis.step(c[0]), axis.step(end))) for c, end in zip(changes, ends, strict=True) if c[1]]
        for place, _ in enumerate(CONSTRAINTS):
            met = [span for c, span in alive if (c[6] if place == 3 else c[2 + place] >= c[1])]
            _bars(axes, row - 0.3 + 0.2 * place, 0.2, met, f"met-{place}")
        _bars(axes, row, 0.05, [span for _, span in alive], "unmet")
        joint = [(a, b - a) for c, (a, b) in alive if c[5] >= c[1] and c[6]]
        axes.broken_barh(joint, (row - 0.44, 0.88), facecolor="none", edgecolor=_colours()["ink"], linewidth=0.6, zorder=4)
    _rows(axes, [task["name"].partition(":")[2] or task["name"] for task in tasks])
    axes.set_yticks([-_SCORE, -1, *range(len(tasks))], [f"score {high:g}", f"{low:g}", *(label.get_text() for label in axes.get_yticklabels())])
    axes.set_ylim(len(tasks) - 0.4, -_SCORE - 0.6)


def _legend() -> list[Patch | Line2D]:
    colours = _colours()
    stages = [Patch(facecolor=colours[c], hatch=h, edgecolor="white", label=name) for name, c, _, h in STAGES.values()]
    message = Line2D([], [], color=colours["message"], linewidth=0.6, marker="o", markersize=2, label="message")
    ends = [Patch(facecolor=colours[c], hatch=h, edgecolor="white", label=name) for name, c, h in OUTCOMES.values()]
    met = [Patch(facecolor=colours[f"met-{place}"], label=name) for place, name in enumerate(CONSTRAINTS)]
    return [*stages, message, *ends, *met]

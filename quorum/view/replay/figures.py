"""Figures of an episode for papers: the viewer's lanes, in the viewer's colours.

`trace` is EmCoop's trace figure (arXiv 2603.00349; project page, "Trace visualization"): cognitive activity and
messages; primitive execution; constraint satisfaction and capability changes.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
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

Span = tuple[float, float]
Look = tuple[str, str, float, str]
"""The look of bars: the label in the legend, the colour, the height in a row, and the hatch."""

STAGES: Mapping[str, Look] = {
    "R": ("reason", "stage-r", 0.8, "....."),
    "W": ("wait", "stage-w", 0.2, ""),
    "X": ("execute", "stage-x", 0.8, ""),
    "I": ("interrupted", "stage-i", 0.8, "/////"),
    "O": ("off turn", "line", 0.2, ""),
}
ENDS: Mapping[str | None, Look] = {
    "success": ("success", "ok", 0.46, ""),
    "failed": ("failed", "bad", 0.46, "xxxxx"),
    "timeout": ("timed out", "late", 0.46, "/////"),
    "cancelled": ("cancelled", "cut", 0.46, "-----"),
    None: ("not ended", "running", 0.46, ""),
}
"""The look of actions, by their end."""
_NAMES = ("spatial", "temporal", "participation", "dependency")
CONSTRAINTS: Sequence[Look] = [(name, f"met-{place}", 0.2, "") for place, name in enumerate(_NAMES)]
TITLES = ("Cognitive activity and messages", "Primitive execution", "Constraints, capabilities and score")
_MARKERS = {"up": "^", "down": "v", "left": "<", "right": ">", "stay": "_", "noop": "_", "nothing": "_"}
"""The markers of primitives; the others are squares."""
_MOST_TASKS = 10
_LARGE_TEAM = 20
"""Number of agents beyond which bars have no text, and only some rows have names."""
_LEFT, _RIGHT, _TITLE, _TICKS, _LINE = 0.78, 0.06, 0.2, 0.3, 0.11
"""Margins and heights of texts, in inches."""
_ROWS, _HIGHEST = (0.135, 0.2, 0.1), 4.0
"""Height of a row in each panel, and maximum height of a panel, in inches."""
_SCORE = 4
"""Height of the score, in rows of tasks."""


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
    drawn = sheet(3, height=1.0, columns=1)
    lanes = _Lanes(run, first, last)
    scale = (width - _LEFT - _RIGHT) / (lanes.axis.starts[last + 1] - lanes.axis.starts[first])
    lanes.draw_stages(drawn.panels[0])
    lanes.draw_actions(drawn.panels[1], scale)
    lanes.draw_tasks(drawn.panels[2])
    looks = [*STAGES.values(), *ENDS.values(), *CONSTRAINTS]
    handles = [Patch(fc=_colours()[name], hatch=hatch, ec="white", label=label) for label, name, _, hatch in looks]
    handles.append(Line2D([], [], color=_colours()["message"], lw=0.6, marker="o", ms=2, label="message"))  # type: ignore[arg-type]
    columns = int(width / 0.88)
    foot = wrap(lanes.remark(), int(width * 19))
    heights = [min(_HIGHEST, high * abs(a.viewLim.height)) for a, high in zip(drawn.panels, _ROWS, strict=True)]
    lines = len(foot) - (-len(handles) // columns)
    height = top = sum(heights) + 3 * _TITLE + _TICKS + _LINE * lines + 0.14
    drawn.figure.set_size_inches(width, height)
    ticks = range(first, last + 1, max(1, -(-(last - first) // int(width * 2.2))))
    for axes, high, text in zip(drawn.panels, heights, TITLES, strict=True):
        axes.set_title(text, loc="left", y=1, pad=2.5)
        top -= _TITLE + high
        axes.set_position((_LEFT / width, top / height, 1 - (_LEFT + _RIGHT) / width, high / height))
        thinking = [(lanes.axis.starts[t], wide) for t, wide in enumerate(lanes.axis.thinking)]
        axes.broken_barh(thinking, (0, 1), transform=axes.get_xaxis_transform(), fc=_colours()["panel"], zorder=0)
        axes.set_xlim(lanes.axis.starts[first], lanes.axis.starts[last + 1])
        axes.set_xticks([lanes.axis.step(t) for t in ticks], list(map(str, ticks)))
        axes.tick_params(labelsize=6, pad=1.5, left=False, length=2, labelbottom=axes is drawn.panels[-1])
    axes.set_xlabel("environment step", fontsize=6.5, labelpad=1)
    drawn.figure.legend(
        handles=handles, loc="lower center", bbox_to_anchor=(0.5, (0.06 + _LINE * len(foot)) / height), ncols=columns,
        frameon=False, fontsize=6, handlelength=1.4, columnspacing=0.9, borderpad=0, labelspacing=0.25,
    )  # fmt: skip
    drawn.figure.text(0.5, 0.04 / height, "\n".join(foot), ha="center", va="bottom", fontsize=6, linespacing=1.2)
    return drawn.figure


FIGURES: Mapping[str, Callable[[RecordedEpisode, int, int, float], Figure]] = {"trace": trace_figure}
"""The figures of an episode, by name."""


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

    def __init__(self, spans: Sequence[tuple[float, float, int]], steps: int) -> None:
        self._spans = [*spans, *[(0.0, 0.0, 0)] * (steps + 1 - len(spans))]
        self.thinking = [min(8.0, 0.6 + 0.35 * n) if end > begin else 0.0 for begin, end, n in self._spans]
        self.starts = [0.0]
        for t, wide in enumerate(self.thinking):
            self.starts.append(self.starts[-1] + wide + (1 if t < steps else 0.5))

    def at(self, t: int, t_hat: float) -> float:
        """Return the position of an instant."""
        begin, end, _ = self._spans[t]
        share = min(1.0, max(0.0, (t_hat - begin) / (end - begin))) if end > begin else 0.0
        return self.starts[t] + share * self.thinking[t]

    def step(self, t: int) -> float:
        """Return the position at which the step from `t` starts."""
        return self.starts[t] + self.thinking[t]


class _Lanes:
    """The lanes of an episode, as one page of the viewer.

    Args:
        run: the run.
        first: the first step to show.
        last: the last step to show.
    """

    def __init__(self, run: RecordedEpisode, first: int, last: int) -> None:
        builder = LaneBuilder(Calls(RunFolder(run.folder)), sys.maxsize)
        for stamped in run.trace.events:
            builder.take(stamped, 0)
        builder.finish()
        self._run, self._first, self._last, self._scores = run, first, last, builder.scores
        self._page: Json = msgspec.json.decode(builder.pages.data(0))
        self.axis = TimeAxis(self._page["spans"], len(self._page["joint"]))
        with closing_world(run.world()) as world:
            self._primitives = dict(primitive_names(world, builder.used[0])) if isinstance(world, Drawable) else {}
        self._all = [task for task in self._page["tasks"] if any(c[2] or c[3] for c in task["changes"])]
        most = sorted(self._all, key=self._work, reverse=True)[:_MOST_TASKS]
        self._tasks = [task for task in self._all if task in most]

    def _work(self, task: Json) -> int:
        """Return in how many of the steps agents worked at a task."""
        spans = [(c, max(c[0], self._first), min(end, self._last + 1)) for c, end in self._changes(task)]
        return sum(max(0, end - begin) for c, begin, end in spans if c[4])

    def _changes(self, task: Json) -> Iterable[tuple[Sequence[int], int]]:
        """Return the numbers of a task, each with the step at which they change."""
        changes = task["changes"]
        return zip(changes, [*(change[0] for change in changes[1:]), len(self._page["joint"])], strict=True)

    def remark(self) -> str:
        """Return what a reader must know about the figure."""
        silent = not any(self._first <= message["t"] <= self._last for message in self._page["messages"])
        model = "Simulated language model. " if self._run.answering_models.simulated else ""
        shaded = f"{label_of(self._run)}. Shaded: the team thinks while the world stands still."
        framed = "Framed: all constraints at once." if self._tasks else "No constraints."
        most = (
            f" {_MOST_TASKS} of {len(self._all)} tasks, those with most work." if len(self._all) > _MOST_TASKS else ""
        )
        return f"{model}{shaded} {framed}{most}{' No messages.' if silent else ''}"

    def draw_stages(self, axes: Axes) -> None:
        """Draw the stages of all participants, and their messages."""
        axis, start = self.axis, self._run.trace.start
        for row, flat in enumerate(self._page["stages"]):
            changes = [(0.0, "R")]
            for t, t_hat, stage in (flat[i : i + 3] for i in range(0, len(flat), 4)):
                changes.append((axis.step(t) if stage == "X" else axis.at(t, t_hat), stage))
            spans: dict[str, list[Span]] = defaultdict(list)
            for (begin, stage), (end, _) in zip(changes, [*changes[1:], (axis.starts[-1], "")], strict=True):
                spans[stage].append((begin, end))
            for stage, found in spans.items():
                _bars(axes, row, found, STAGES.get(stage, STAGES["W"]))
        lines, marks = [], defaultdict(list)
        for message in self._page["messages"]:
            sender, begin = message["sender"], axis.at(message["t"], message["t_hat"])
            end = max(begin, axis.at(message["t"], message["delivered_at"]))
            marks["o"].append((begin, sender))
            for reader in message["recipients"]:
                lines.append([(begin, sender), (end, reader)])
                marks["v" if reader > sender else "^"].append((end, reader + (-0.25 if reader > sender else 0.25)))
        axes.add_collection(LineCollection(lines, colors=_colours()["message"], linewidths=0.5, zorder=3))
        for marker, places in marks.items():
            _marks(axes, places, marker, "message", 5)
        _name_rows(axes, [*start.agents, *start.coordinators])

    def draw_actions(self, axes: Axes, scale: float) -> None:
        """Draw the symbolic actions of the agents, and their primitives below; `scale`: inches of a step."""
        spans: dict[tuple[int, str | None], list[Span]] = defaultdict(list)
        agents = self._run.trace.start.agents
        for agent, _, _, name, t, _, end_t, end_hat, status, _ in self._page["actions"]:
            begin = self.axis.step(t)
            end = self.axis.starts[-1] if end_t is None else self.axis.at(end_t, end_hat) if end_t > t else begin
            kind = status if status in ENDS else None
            spans[agent, kind].append((begin, end))
            if (room := int((end - begin) * scale / 0.056)) > 2 and len(agents) <= _LARGE_TEAM:
                text = sanitize(name, room)
                box = {"fc": _colours()[ENDS[kind][1]], "pad": 0.4, "lw": 0}
                axes.text(
                    begin + 0.03 / scale, agent - 0.2, text, fontsize=5, color="w", va="center", bbox=box, clip_on=True
                )
        for (agent, kind), found in spans.items():
            _bars(axes, agent - 0.2, found, ENDS[kind])
        marks: dict[str, list[Span]] = defaultdict(list)
        for t, joint in enumerate(self._page["joint"]):
            for agent, code in enumerate(joint):
                name = self._primitives.get(str(code), "").removeprefix("move_")
                marks[_MARKERS.get(name, "s")].append((self.axis.step(t) + 0.5, agent + 0.28))
        for marker, places in marks.items():
            _marks(axes, places, marker, "primitive" if marker == "_" else "ink", min(3.2, 60 * scale) ** 2)
        _name_rows(axes, agents)

    def draw_tasks(self, axes: Axes) -> None:
        """Draw the score, the changes of capabilities, and the constraints of each task that hold."""
        scores = [(0.0, 0.0), *((self.axis.starts[t], score) for t, _, _, score in self._scores)]
        low, high = (pick(score for _, score in scores) for pick in (min, max))
        x, y = zip(*((x, -1 - (_SCORE - 1) * (score - low) / (high - low or 1)) for x, score in scores), strict=True)
        axes.step([*x, self.axis.starts[-1]], [*y, y[-1]], where="post", color=_colours()["ink"], linewidth=0.9)
        for t, _, _, gained in self._page["capabilities"]:
            _marks(axes, [(self.axis.step(t) + 0.5, -0.5)], "^" if gained else "v", "ok" if gained else "bad", 9)
        for row, task in enumerate(self._tasks):
            alive = [(c, (self.axis.step(c[0]), self.axis.step(end))) for c, end in self._changes(task) if c[1]]
            for place, look in enumerate(CONSTRAINTS):
                held = [span for c, span in alive if (c[6] if place == 3 else c[2 + place] >= c[1])]
                _bars(axes, row - 0.3 + 0.2 * place, held, look)
            together = [(begin, end - begin) for c, (begin, end) in alive if c[5] >= c[1] and c[6]]
            axes.broken_barh(together, (row - 0.44, 0.88), fc="none", ec=_colours()["ink"], lw=0.6, zorder=4)
        names = [task["name"].partition(":")[2] or task["name"] for task in self._tasks]
        _name_rows(axes, [f"score {high:g}", *[""] * (_SCORE - 2), f"{low:g}", *names], -_SCORE)


def _bars(axes: Axes, row: float, spans: Iterable[Span], look: Look) -> None:
    _, name, high, hatch = look
    axes.broken_barh(
        [(begin, end - begin) for begin, end in spans], (row - high / 2, high), fc=_colours()[name], hatch=hatch,
        ec="white", lw=0.2 if high > CONSTRAINTS[0][2] else 0, zorder=2,
    )  # fmt: skip


def _marks(axes: Axes, places: Iterable[Span], marker: str, name: str, size: float) -> None:
    x, y = zip(*places, strict=True)
    axes.scatter(x, y, s=size, marker=marker, color=_colours()[name], linewidths=0.4 if marker == "_" else 0, zorder=4)


def _name_rows(axes: Axes, names: Sequence[str], first: int = 0) -> None:
    every = -(-len(names) // _LARGE_TEAM) or 1
    rows = range(first, first + len(names), every)
    axes.set_yticks(rows, [clipped(sanitize(name, 40), 14) for name in names[::every]])
    axes.set_ylim(first + len(names) - 0.5, first - 0.5)

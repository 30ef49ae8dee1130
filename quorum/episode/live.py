"""Displays an episode in the terminal while it runs."""

from __future__ import annotations

import sys
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, Self

import orjson
import rich.text
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table

from maeil import PlanStatus, World
from maeil.trace import Listener
from maeil.trace.events import (
    ActionChange,
    EpisodeStart,
    MessageSent,
    PlanChange,
    ScoreChange,
    StageChange,
    Stamped,
    StepTaken,
    ThoughtEnd,
    ThoughtStart,
)
from quorum.agents.llm.spending import UnderWay
from quorum.configuration.cell import Cell
from quorum.display.characters import as_characters
from quorum.display.consoles import Console, Text
from quorum.display.sanitize import sanitize
from quorum.display.terminal import echo
from quorum.episode.runner import Watch
from quorum.episode.status import EpisodeStatus, status_line
from quorum_base.drawing import Canvas, Drawable, Drawing

PACE = 0.05
"""Minimum seconds that a step stays on screen: a team without language models would finish in an instant."""

_TEAM_WIDTH = 50
"""Minimum width of the table in columns; the board is cropped if both do not fit."""
_GAP = 3
_HEAD = 2
"""Lines above the board: the score and the stages, and who is thinking."""
_TABLE_HEAD = 1
_TALK_SHARE = 0.3
"""Share of the screen for messages, once there are any."""
_STAGES = {"R": "reasons", "W": "waits", "X": "acts", "I": "interrupted", "O": "off turn"}


@dataclass(slots=True)
class _Participant:
    """What is shown of an agent, or of a coordinator, which has no stage."""

    name: str
    stage: str = ""
    task: str = ""
    action: str = ""
    thinks: str = ""
    actions: Sequence[Mapping[str, Any]] = ()

    @property
    def doing(self) -> str:
        """Its current activity: a thought in progress takes precedence over the action of its plan."""
        return f"thinks: {self.thinks}" if self.thinks else self.action


class LiveView:
    """A live display: the board, each participant's stage, plan, action or thought, messages, a legend and the score.

    Use it as a context manager. A team that is too large for the screen is shown by task instead of by agent.

    Args:
        world: the world to display.
        console: where to draw; it should be a terminal.
        pace: minimum seconds that a step stays on screen.
        status: status of the episode's language models; None if it has none.
    """

    def __init__(self, world: World, console: Console, pace: float = PACE, status: EpisodeStatus | None = None) -> None:
        self._status = status
        self._world = world
        self._console = console
        self._pace = pace
        self._team = [_Participant(name, stage="R") for name in world.agents]
        self._talk = Talk(world.agents)
        self._step = 0
        self._score = ""
        # Draw only completed steps: the screen refreshes in its own thread, even in the middle of a step.
        self._picture = self._draw()
        self._live = Live(console=console, get_renderable=self.render, refresh_per_second=20, transient=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def __call__(self, stamped: Stamped) -> None:
        """Process an event."""
        match stamped.event:
            case EpisodeStart() as start:
                self._team += [_Participant(name) for name in start.coordinators]
                self._talk.names += start.coordinators
            case ThoughtStart() as thought:
                self._team[thought.agent].thinks = ", ".join(thought.acts) or "a turn"
            case ThoughtEnd() as thought:
                self._team[thought.agent].thinks = ""
            case MessageSent() as message:
                self._talk.hear(stamped.t, message)
            case StageChange() as change:
                self._team[change.agent].stage = change.to_stage
            case PlanChange() as change:
                self._take_plan(self._team[change.agent], change)
            case ActionChange(status="started") as change:
                agent = self._team[change.agent]
                agent.action = _call(agent.actions[change.index])
            case ScoreChange() as score:
                self._score = _words(score)
                self._picture = self._draw()
            case event if event.changes_world:
                self._picture = self._draw()
            case StepTaken():
                self._step = stamped.t + 1
                self._picture = self._draw()
                time.sleep(self._pace)

    @staticmethod
    def _take_plan(agent: _Participant, change: PlanChange) -> None:
        if change.status == PlanStatus.COMMITTED:
            agent.task = f"{change.task['kind']} {change.task['target']}" if change.task else "a plan"
            agent.action, agent.actions = "", change.actions or ()
        elif PlanStatus(change.status).final:
            agent.task, agent.action = change.status, ""

    def _draw(self) -> tuple[Canvas, Drawing] | str:
        """Return what the board shows now; its characters are chosen once the size of the screen is known."""
        return (self._world.canvas(), self._world.draw()) if isinstance(self._world, Drawable) else self._world.ansi()

    def render(self) -> RenderableType:
        """Draw the current state."""
        width, height = self._console.width, self._console.height
        talk = self._talk.lines(width, max(2, int(height * _TALK_SHARE)))
        legend = self._legend()
        rows = max(1, height - _HEAD - _TABLE_HEAD - len(talk) - bool(talk) - len(legend) - 1)
        columns = max(1, min(width - _TEAM_WIDTH - _GAP, width // 2))
        body = Table.grid(padding=(0, _GAP, 0, 0))
        body.add_column(no_wrap=True, overflow="crop", max_width=columns)
        body.add_column()
        body.add_row(self._board(columns, rows + _TABLE_HEAD), self._table(rows))
        stages = Counter(agent.stage for agent in self._team if agent.stage)
        tally = "  ".join(f"{stage} {stages[stage]}" for stage in sorted(stages))
        head = [f"step {self._step}   {self._score}   {tally}", *([self._status.models] if self._status else [])]
        said = [Text("─" * width, style="dim"), *(Text(line, no_wrap=True) for line in talk)] if talk else []
        lines = (
            Text(line, style="" if n else "bold", no_wrap=True, overflow="ellipsis") for n, line in enumerate(head)
        )
        return Group(*lines, body, *legend, *said)

    def _board(self, columns: int, rows: int) -> rich.text.Text:
        if not isinstance(self._picture, str) and self._console.color_system is not None:
            return as_characters(*self._picture, columns, rows)
        # without colors, the world's own characters distinguish the kinds
        lines = (self._picture if isinstance(self._picture, str) else self._world.ansi()).splitlines()
        return Text.from_ansi("\n".join(lines[:rows]))

    def _legend(self) -> list[rich.text.Text]:
        """Return a line on the stages and, if the board has colors, one on its visible kinds."""
        stages = Text("  ".join(f"{sign} {word}" for sign, word in _STAGES.items()), style="dim", no_wrap=True)
        if isinstance(self._picture, str) or self._console.color_system is None:
            return [stages]
        canvas, drawing = self._picture
        shown = {mark.kind for mark in drawing.marks.values()} | set(drawing.ground)
        line = rich.text.Text(no_wrap=True, overflow="crop")
        for kind in (kind for number, kind in enumerate(canvas.kinds) if number in shown):
            line.append(f" {kind.sign or ' '}", f"on {kind.light}").append(f" {sanitize(kind.name)}  ", "dim")
        return [stages, line] if line.plain else [stages]

    def _table(self, rows: int) -> Table:
        """Return a row for each agent; in a team that is too large, a row for each task."""
        lines = [(agent.name, agent.stage, agent.task, agent.doing) for agent in self._team]
        if large := len(lines) > rows:
            groups = Counter(line[1:] for line in lines).most_common()
            rest = sum(number for _, number in groups[rows - 1 :])
            lines = [(str(number), *doing) for doing, number in groups]
            lines = lines if len(lines) <= rows else [*lines[: rows - 1], (str(rest), "", "others", "")]
        table = Table(box=None, pad_edge=False)
        title = "agents" if large else "agent"
        table.add_column(title, no_wrap=True, justify="right" if large else "left", max_width=24)
        table.add_column("stage", no_wrap=True)
        table.add_column("plan")  # in a narrow terminal, these two columns shrink, and their texts end in an ellipsis
        table.add_column("action")
        for line in lines:
            table.add_row(*(Text(sanitize(text), no_wrap=True, overflow="ellipsis") for text in line))
        return table


def _call(action: Mapping[str, Any]) -> str:
    """Format an action as a call: `push_block(block=3, steps=2)`."""
    arguments = ", ".join(f"{key}={value}" for key, value in action.items() if key != "action" and value is not None)
    return f"{action['action']}({arguments})"


def _words(score: ScoreChange) -> str:
    return f"{f'{score.reached}/{score.goals} goals, ' if score.goals else ''}score {score.score:g}"


def line_view(console: Console) -> Listener:
    """Return a listener that prints a line for each change of the score: `--live` without a terminal."""

    def tell(stamped: Stamped) -> None:
        if isinstance(stamped.event, ScoreChange):
            console.print(Text(f"step {stamped.t}: {_words(stamped.event)}"))

    return tell


_KEPT = 50
_MOST_LINES = 3
"""Maximum lines of one message."""


class Talk:
    """The latest messages of an episode.

    Args:
        names: names of the participants, by index.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self._said: deque[tuple[int, MessageSent]] = deque(maxlen=_KEPT)

    def hear(self, t: int, message: MessageSent) -> None:
        """Add a message."""
        self._said.append((t, message))

    def lines(self, width: int, rows: int) -> list[str]:
        """Return the latest messages, oldest first, in at most `rows` rows of `width` characters."""
        shown: list[str] = []
        for said in reversed(self._said):
            lines = self._lines(*said, width)
            if shown and len(shown) + len(lines) > rows:
                break
            shown = lines + shown
        return shown[:rows]

    def _lines(self, t: int, message: MessageSent, width: int) -> list[str]:
        head = f"{t:>3} {self._name(message.sender)} → {self._recipients(message)} ({message.what}): "
        lines = wrap(sanitize(head + in_words(message.content)), max(20, width), subsequent_indent="      ")
        if len(lines) > _MOST_LINES:
            last = lines[_MOST_LINES - 1]
            lines = [*lines[: _MOST_LINES - 1], f"{last[: max(20, width) - 2]} …"]
        return lines

    def _name(self, index: int) -> str:
        return self.names[index] if index < len(self.names) else str(index)

    def _recipients(self, message: MessageSent) -> str:
        if len(message.recipients) > 1 and len(message.recipients) == len(self.names) - 1:
            return "all"
        return folded([self._name(index) for index in message.recipients])


def folded(names: Sequence[str]) -> str:
    """Format names, abbreviating more than three: `agent_0, agent_1 and 6 more`."""
    return ", ".join(names) if len(names) <= 3 else f"{names[0]}, {names[1]} and {len(names) - 2} more"


def in_words(content: str) -> str:
    """Return a readable message: a joint plan as each agent's task, feedback as its errors, other text unchanged."""
    try:
        answer = orjson.loads(content)
    except orjson.JSONDecodeError:
        answer = None
    match answer:  # written by quorum.agents.coordination.joint
        case {"suggestions": dict() as plans}:
            return "; ".join(f"{name}: {_plan(plan)}" for name, plan in plans.items()) or "nobody has anything to do"
        case {"code": _, "problem": problem, "issue": issue, "proposal": proposal}:
            would = f"would rather {_plan(proposal)}" if proposal else ""
            return "; ".join(str(part) for part in (problem, issue, would) if part) or "objects"
        case _:
            return " ".join(content.split())


def _plan(plan: Any) -> str:
    match plan:
        case {"task": {"kind": kind, "target": target}}:
            task = f"{kind} {target}"
        case _:
            task = "no task"
    steps = plan.get("actions") if isinstance(plan, dict) else None
    names = [str(step.get("action")) for step in (steps if isinstance(steps, list) else ()) if isinstance(step, dict)]
    return f"{task} ({', '.join(names)})" if names else task


@contextmanager
def shown(cell: Cell, *, live: bool, as_json: bool, quiet: bool) -> Iterator[tuple[Watch | None, UnderWay]]:
    """Show an episode while the context lasts; yields the arguments with which `run_cell` reports it.

    Args:
        cell: the cell that runs.
        live: show the team at work.
        as_json: reserve standard output for the result.
        quiet: show nothing.
    """
    under_way = UnderWay()
    with ExitStack() as stack:
        yield None if quiet else _watch(stack, cell, under_way, live=live, as_json=as_json), under_way


def _watch(stack: ExitStack, cell: Cell, under_way: UnderWay, *, live: bool, as_json: bool) -> Watch | None:
    console = Console(stderr=as_json or not sys.stdout.isatty())
    status = EpisodeStatus(under_way) if cell.configuration.uses_models else None
    if live and console.is_terminal:
        return lambda world: stack.enter_context(LiveView(world, console, status=status))
    if as_json and not live:
        echo(f"running {cell.name}", err=True)
    listeners: list[Listener] = [line_view(console)] if live else []
    if status is not None:
        listeners.append(status)
        stack.enter_context(status_line(Console(stderr=True), status))
    if not listeners:
        return None

    def tell(stamped: Stamped) -> None:
        for listener in listeners:
            listener(stamped)

    return lambda _: tell

"""Follows an episode in the terminal while it runs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table

from maeil import PlanStatus, World
from maeil.trace.events import ActionChange, PlanChange, ScoreChange, StageChange, Stamped, StepTaken
from quorum.experiments.common.consoles import Console, Text
from quorum.experiments.common.sanitize import sanitize
from quorum.experiments.episode.status import EpisodeStatus

PACE = 0.05
"""Seconds that a step stays on the screen at least: a team without language models would be done in a blink."""

_TEAM_WIDTH = 50  # columns that the table has at least; the board is cropped where both do not fit
_CHROME = 7  # lines around the rows: the score, who thinks, the table's title, head and rules


@dataclass(slots=True)
class _Agent:
    """What is shown of an agent."""

    name: str
    stage: str = "R"
    task: str = ""
    action: str = ""
    actions: Sequence[Mapping[str, Any]] = ()


class LiveView:
    """A live picture of the board, the agents' stages, plans and actions, and the score. Use it as a context manager.

    A team that is too large for the screen is shown by task instead of by agent.

    Args:
        world: the world that is watched.
        console: where to draw; it should be a terminal.
        pace: seconds that a step stays on the screen at least.
        status: of the episode's language models; None where it has none.
    """

    def __init__(self, world: World, console: Console, pace: float = PACE, status: EpisodeStatus | None = None) -> None:
        self._status = status
        self._world = world
        self._console = console
        self._pace = pace
        self._agents = [_Agent(name) for name in world.agents]
        self._step = 0
        self._score = ""
        # Drawn when a step is over: the screen refreshes in a thread of its own, also in the middle of a step.
        self._board = Text.from_ansi(world.ansi())
        self._live = Live(console=console, get_renderable=self.render, refresh_per_second=20, transient=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def __call__(self, stamped: Stamped) -> None:
        """Take an event in."""
        match stamped.event:
            case StageChange() as change:
                self._agents[change.agent].stage = change.to_stage
            case PlanChange() as change:
                self._take_plan(self._agents[change.agent], change)
            case ActionChange(status="started") as change:
                agent = self._agents[change.agent]
                agent.action = _call(agent.actions[change.index])
            case ScoreChange() as score:
                self._score = f"{score.reached}/{score.goals} goals, score {score.score:g}"
                self._board = Text.from_ansi(self._world.ansi())
            case StepTaken():
                self._step = stamped.t + 1
                self._board = Text.from_ansi(self._world.ansi())
                time.sleep(self._pace)

    @staticmethod
    def _take_plan(agent: _Agent, change: PlanChange) -> None:
        if change.status == PlanStatus.COMMITTED:
            agent.task = f"{change.task['kind']} {change.task['target']}" if change.task else "a plan"
            agent.action, agent.actions = "", change.actions or ()
        elif PlanStatus(change.status).final:
            agent.task, agent.action = change.status, ""

    def render(self) -> RenderableType:
        """Draw the present state."""
        rows = max(1, self._console.height - _CHROME)
        team = self._by_agent() if len(self._agents) <= rows else self._by_task(rows)
        body = Table.grid(padding=(0, 3))
        body.add_column(no_wrap=True, overflow="crop", max_width=max(1, self._console.width - _TEAM_WIDTH))
        body.add_column()
        body.add_row(self._board, team)
        stages = Counter(agent.stage for agent in self._agents)
        tally = "  ".join(f"{stage} {stages[stage]}" for stage in sorted(stages))
        thinks = [] if self._status is None else [Text(self._status.models, overflow="ellipsis", no_wrap=True)]
        return Group(Text(f"step {self._step}   {self._score}   {tally}", style="bold"), *thinks, body)

    def _by_agent(self) -> Table:
        table = Table(box=None, pad_edge=False)
        table.add_column("agent", no_wrap=True, min_width=max(len(agent.name) for agent in self._agents))
        _add_columns(table)
        for agent in self._agents:
            table.add_row(_cell(agent.name), agent.stage, _cell(agent.task), _cell(agent.action))
        return table

    def _by_task(self, rows: int) -> Table:
        groups = Counter((agent.task, agent.stage, agent.action) for agent in self._agents)
        table = Table(box=None, pad_edge=False)
        table.add_column("agents", justify="right", no_wrap=True, min_width=6)
        _add_columns(table)
        largest = sorted(groups.items(), key=lambda group: (-group[1], group[0]))
        shown = largest if len(largest) <= rows else largest[: rows - 1]
        for (task, stage, action), number in shown:
            table.add_row(str(number), stage, _cell(task), _cell(action))
        if len(shown) < len(largest):
            table.add_row(str(sum(number for _, number in largest[len(shown) :])), "", "others", "")
        return table


def _add_columns(table: Table) -> None:
    for title, width in (("stage", 5), ("plan", 16), ("action", 16)):
        table.add_column(title, no_wrap=True, min_width=width)


def _call(action: Mapping[str, Any]) -> str:
    """Write an action as a call: `push_block(block=3, steps=2)`."""
    arguments = ", ".join(f"{key}={value}" for key, value in action.items() if key != "action" and value is not None)
    return f"{action['action']}({arguments})"


def _cell(text: str) -> Text:
    """Return what others wrote as text: neither markup nor control characters have a meaning."""
    return Text(sanitize(text))


class LineView:
    """One line for each change of the score: what `--live` shows where there is no terminal to draw on.

    Args:
        console: where to print.
    """

    def __init__(self, console: Console) -> None:
        self._console = console

    def __call__(self, stamped: Stamped) -> None:
        """Take an event in."""
        if isinstance(stamped.event, ScoreChange):
            score = stamped.event
            self._console.print(Text(f"step {stamped.t}: {score.reached}/{score.goals} goals, score {score.score:g}"))

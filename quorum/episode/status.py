"""A running episode in one line: its progress, who is thinking and for how long, and usage so far."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.live import Live

from maeil.trace import Stamped
from maeil.trace.events import ScoreChange, StepTaken
from quorum.agents.llm.spending import CallUnderWay, UnderWay
from quorum.display.consoles import Console, Text
from quorum.storage.outputs import clock_time

LINE_EVERY = 30.0
"""Seconds between two lines without a terminal."""
_DRAWN_A_SECOND = 2
_MOST_NAMED = 3
"""Thinking participants listed by name, at most."""


class EpisodeStatus:
    """The status line of an episode; a listener for its events.

    Args:
        under_way: its model calls in progress.
    """

    def __init__(self, under_way: UnderWay) -> None:
        self._under_way = under_way
        self._begin = under_way.clock()
        self._step = 0
        self._score = ""

    def __call__(self, stamped: Stamped) -> None:
        """Process an event."""
        match stamped.event:
            case ScoreChange() as score:
                self._score = f"{score.reached}/{score.goals} goals" if score.goals else f"score {score.score:g}"
            case StepTaken():
                self._step = stamped.t + 1

    @property
    def progress(self) -> str:
        """Progress of the episode."""
        now = clock_time(self._under_way.clock() - self._begin)
        return " · ".join(filter(None, (f"step {self._step}", self._score, now)))

    @property
    def models(self) -> str:
        """Who is thinking and for how long, and the answers, tokens and cost so far."""
        spent, parts = self._under_way.spent, [thinking(self._under_way.calls, self._under_way.queued)]
        if spent.answers:
            cached = f", {spent.cached:,} from the cache" if spent.cached else ""
            made_up = " (simulated)" if self._under_way.simulated else ""
            parts += [f"{spent.answers:,} answers{cached}", f"{spent.tokens:,} tokens", f"{spent.money}{made_up}"]
        return " · ".join(parts)

    @property
    def line(self) -> str:
        """The whole status line."""
        return f"{self.progress} · {self.models}"


def thinking(calls: Sequence[CallUnderWay], queued: int) -> str:
    """Describe who is thinking, longest first: `agent_2 (actor) thinks 12 s, agent_0 9 s, and 5 more`.

    Args:
        calls: calls in progress, longest first.
        queued: number of calls waiting in the queue.
    """
    waiting = f"{queued} queued" if queued else ""
    if not calls:
        return waiting or "nobody thinks"
    named = [
        f"{call.agent}{f' ({call.role})' if call.role else ''} thinks {int(call.stopwatch.seconds)} s"
        for call in calls[:_MOST_NAMED]
    ]
    more = f"and {len(calls) - len(named)} more" if len(calls) > len(named) else ""
    others = (name.replace(" thinks ", " ", 1) for name in named[1:])
    return ", ".join(part for part in (named[0], *others, more, waiting) if part)


@contextmanager
def status_line(console: Console, status: EpisodeStatus) -> Iterator[None]:
    """Show the status while the context lasts: a changing line in a terminal, occasional lines elsewhere.

    It also prints occasional lines if log records go to the terminal.
    """
    logged = logging.getLogger("quorum").isEnabledFor(logging.INFO)
    if console.is_terminal and not logged:

        def render() -> Text:
            return Text(status.line, overflow="ellipsis", no_wrap=True)

        with Live(console=console, get_renderable=render, refresh_per_second=_DRAWN_A_SECOND, transient=True):
            yield
    else:
        over = threading.Event()

        def repeat() -> None:
            while not over.wait(LINE_EVERY):
                console.print(Text(status.line), soft_wrap=True)

        thread = threading.Thread(target=repeat, name="quorum-status", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

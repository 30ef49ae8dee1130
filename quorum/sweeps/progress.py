"""Shows the progress of a sweep on standard error: a live table in a terminal, occasional lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import fmean

import orjson
from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from quorum.agents.llm.spending import Spent
from quorum.display.consoles import Console, Text
from quorum.storage.outputs import clock_time
from quorum.sweeps.grid import names, varied
from quorum.sweeps.queue import Queue
from quorum.sweeps.run import SweepStatus

LINE_EVERY = 10.0
"""Seconds between two lines without a terminal."""
DRAW_EVERY = 0.25
"""Seconds between two redraws in a terminal."""
_WINDOW = 10.0
"""Seconds over which the rate of calls is measured."""

_CHROME = 6
"""Lines around the table: the progress bar, the header and the facts."""

Clock = Callable[[], float]
"""Returns monotonic seconds."""


class SweepProgress:
    """The progress of a sweep.

    Args:
        queue: its running and waiting cells.
        status: its state before this command.
        clock: returns monotonic seconds.
    """

    def __init__(self, queue: Queue, status: SweepStatus, clock: Clock = time.monotonic) -> None:
        self._queue = queue
        self._clock = clock
        self._begin = clock()
        self._all = queue.total
        self._before = status.done.keys() - queue.names
        self._failed_before = sum(done.failed for name, done in status.done.items() if name in self._before)
        self._simulated_before = any(done.simulated for done in status.done.values())
        self._costs = status.costs
        self._spent_before = status.costs.spent
        self._calls = [(self._begin, 0)]

    @property
    def done(self) -> int:
        """Finished cells, including earlier ones."""
        return len(self._before) + len(self._queue.finished)

    @property
    def total(self) -> int:
        """Cells that will be done once this command has run its share."""
        return len(self._before) + self._all

    @property
    def failed(self) -> int:
        """Cells that ended in an error."""
        return self._failed_before + sum(done.failed for done in self._queue.finished)

    def calls_per_second(self) -> float:
        """Calls that providers answered per second, over the last ten seconds."""
        now = self._clock()
        self._calls.append((now, self._queue.calls.answered))
        while len(self._calls) > 2 and self._calls[1][0] < now - _WINDOW:
            self._calls.pop(0)
        (begin, earlier), (end, later) = self._calls[0], self._calls[-1]
        return (later - earlier) / (end - begin) if end > begin else 0.0

    def left(self) -> float | None:
        """Seconds left if the remaining cells take as long as those so far; None before the first is done."""
        finished = len(self._queue.finished)
        return (self._clock() - self._begin) * (self._all - finished) / finished if finished else None

    @property
    def spent(self) -> Spent:
        """Usage of the whole sweep: that of its finished cells or that reported by workers, whichever is more.

        Workers also report the cells that are running, but some engines deliver these reports only when a cell is done.
        """
        return max(self._spent_before + self._queue.calls.spent, self._costs.spent, key=lambda spent: spent.answers)

    @property
    def simulated(self) -> bool:
        """Whether simulated models answered, so that the cost is fictitious."""
        return self._simulated_before or self._queue.calls.simulated or any(d.simulated for d in self._queue.finished)

    def facts(self) -> list[str]:
        """Return all known facts as parts of a status line."""
        left, spent = self.left(), self.spent
        facts = [f"{self.done}/{self.total} done", f"{len(self._queue.running)} running", f"{self.failed} failed"]
        calls = self._queue.calls
        if calls.under_way or calls.queued:
            waiting = f", {calls.queued:,} queued" if calls.queued else ""
            facts.append(f"{calls.under_way:,} calls under way, the longest for {int(calls.longest)} s{waiting}")
        if spent.answers:
            facts.append(f"{spent.tokens:,} tokens")
            facts.append(f"{spent.money}{' (simulated)' if self.simulated else ''}")
            if spent.cached:
                facts.append(f"{spent.cached:,} of {spent.answers:,} answers from the cache")
        facts += calls.delivery
        passed = clock_time(self._clock() - self._begin)  # it moves while the first cells play
        facts.append(f"{passed} so far" if left is None else f"ETA {clock_time(left)}")
        if spent.answers or calls.answered:
            facts += [f"{self.calls_per_second():.1f} calls/s", f"{calls.rate_limited} 429s"]
        if self._queue.waits:
            facts.append(self._queue.waits)
        if self._queue.stop is not None:
            facts.append("stopping")
        return facts


@contextmanager
def live_table(
    console: Console, name: str, queue: Queue, status: SweepStatus, clock: Clock = time.monotonic
) -> Iterator[Callable[[], None]]:
    """Show a sweep as a live table."""
    progress = SweepProgress(queue, status, clock)
    arms = _Arms(queue, status, rows=max(1, console.height - _CHROME))

    def render() -> RenderableType:
        bar = Table.grid(padding=(0, 1))
        bar.add_row(
            Text(name, style="bold"), ProgressBar(total=max(1, progress.total), completed=progress.done, width=40)
        )
        return Group(bar, *([arms.table()] if arms.several else []), Text(" · ".join(progress.facts())))

    # Only the engine's own thread draws: another one could read the queue in the middle of a change.
    with Live(console=console, get_renderable=render, auto_refresh=False, transient=True) as live:
        live.refresh()  # workers take a second to start
        yield _shows(console, queue, live.refresh, DRAW_EVERY, clock)


@contextmanager
def lines(
    console: Console, name: str, queue: Queue, status: SweepStatus, clock: Clock = time.monotonic
) -> Iterator[Callable[[], None]]:
    """Show a sweep as occasional lines."""
    progress = SweepProgress(queue, status, clock)

    def tell() -> None:
        console.print(Text(f"{name}: {', '.join(progress.facts())}"), soft_wrap=True)

    console.print(Text(f"{name}: {', '.join(progress.facts()[:1])}, {queue.total} to run"), soft_wrap=True)
    yield _shows(console, queue, tell, LINE_EVERY, clock)
    tell()


@contextmanager
def nothing(_queue: Queue, _standing: SweepStatus) -> Iterator[Callable[[], None]]:
    """Show nothing."""
    yield lambda: None


def _shows(
    console: Console, queue: Queue, draw: Callable[[], None], seconds: float, clock: Clock
) -> Callable[[], None]:
    """Return a function that prints each failed cell and the reason for a stop once, and redraws every `seconds`."""
    seen, stop, last = 0, "", clock()

    def show() -> None:
        nonlocal seen, stop, last
        for done in queue.finished[seen:]:
            if done.failed:
                reason = done.reason.splitlines()[0] if done.reason else "no reason given"
                console.print(Text(f"failed: {done.name}: {reason}"), soft_wrap=True)
        seen = len(queue.finished)
        if queue.stop is not None and queue.reason != stop:
            stop, under_way = queue.reason, len(queue.under_way)
            rest = f"; {under_way} cells under way finish first (Ctrl-C again drops them)" if under_way else ""
            first = stop.splitlines()[0]
            console.print(Text(f"stopping: {first}{'' if queue.dropping else rest}"), soft_wrap=True)
        if clock() - last >= seconds:
            last = clock()
            draw()

    return show


@dataclass(slots=True)
class _Row:
    """The cells of an arm with one number of agents."""

    planned: int = 0
    done: int = 0
    running: int = 0
    failed: int = 0
    completions: list[float] = field(default_factory=list)

    def cells(self) -> tuple[str, ...]:
        """Return the table row; means are over finished cells that report the value."""
        mean = f"{fmean(self.completions):.2f}" if self.completions else "-"
        return str(self.done), str(self.planned), str(self.running), str(self.failed), mean


class _Arms:
    """The table: one row for each arm and number of agents, or for each arm if the screen is too small.

    In a sweep without arms, the components that vary take the role of arms.

    Args:
        queue: running and waiting cells.
        status: state of the sweep before this command.
        rows: height of the terminal.
    """

    def __init__(self, queue: Queue, status: SweepStatus, rows: int) -> None:
        self._queue = queue
        kinds = {cell.kind: orjson.loads(cell.configuration) for cell in status.cells}
        several = varied(kinds.values())
        arms = {
            kind: " ".join(name for group, name in names(values).items() if group in several)
            for kind, values in kinds.items()
        }
        self._place = {cell.name: (cell.arm or arms[cell.kind], kinds[cell.kind]["n"]) for cell in status.cells}
        self._by_size = len({values["n"] for values in kinds.values()}) > 1
        self._by_arm = any(arm for arm, _ in self._place.values())
        if len(set(self._place.values())) > rows:
            self._by_size = False
            self._place = {name: (arm, 0) for name, (arm, _) in self._place.items()}
        self._before = [done for name, done in status.done.items() if name not in queue.names]
        self.several = len(set(self._place.values())) > 1

    def table(self) -> Table:
        """Draw the table."""
        rows: dict[tuple[str, int], _Row] = {}
        for place in self._place.values():
            rows.setdefault(place, _Row()).planned += 1
        for finished in (*self._before, *self._queue.finished):
            row = rows[self._place[finished.name]]
            row.done += 1
            row.failed += finished.failed
            if finished.completion is not None and not finished.failed:
                row.completions.append(finished.completion)
        for name in self._queue.running:
            rows[self._place[name]].running += 1
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        if self._by_arm:
            table.add_column("arm")
        for title in (*(["n"] if self._by_size else []), "done", "of", "running", "failed", "completion"):
            table.add_column(title, justify="right")
        for (arm, size), row in rows.items():
            names = ([Text(arm)] if self._by_arm else []) + ([Text(str(size))] if self._by_size else [])
            table.add_row(*names, *row.cells())
        return table

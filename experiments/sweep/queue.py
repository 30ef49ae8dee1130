"""The cells that are still to be run: what waits, what is under way, what became of the rest."""

from __future__ import annotations

import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from math import fsum
from pathlib import Path

from quorum.agents.llm.spending import Spent
from quorum.experiments.configuration.cell import PlannedCell
from quorum.experiments.episode.episode_folder import EpisodeFolder
from quorum.experiments.episode.runner import leave_error
from quorum.experiments.results.finished import FinishedCell, attempts_at, read_finished, read_paid
from quorum.experiments.sweep.engines.protocol import (
    MOST_FRUITLESS,
    CallStatus,
    Finished,
    Shard,
    Started,
    Stuck,
    Waits,
    WorkerReport,
)
from quorum.experiments.sweep.spending import Costs, SweepBudget
from quorum.experiments.sweep.stopping import Cancellation, Stop
from quorum.experiments.sweep.sweep_folder import clear_partials

_log = logging.getLogger(__name__)

MOST_DEATHS = 3
"""Times that a cell is given to a worker that dies with it; the last time it is alone there."""
MOST_FAILURES = 10
"""Cells in a row that end in an error, after which no new one begins: something is wrong with all of them."""


SILENT = 10.0
"""Seconds after which a silent worker is no longer taken to wait for answers: it may be dead."""

_PRICES = "Use --budget-tokens N, or give prices from the beginning: llm.prices."


class WorkerDied(Exception):
    """A worker died with a cell again and again."""


class Queue:
    """Fulfils `quorum.experiments.sweep.engines.protocol.CellQueue`.

    Args:
        folder: of the sweep.
        cells: to be run, in this order; one that follows another of them begins when that is done.
        budget: of the whole sweep.
        costs: what is known of finished cells; those to come are added.
        clock: monotonic seconds.
        cancel: lets others stop the sweep; None: nobody does.
    """

    def __init__(
        self,
        folder: Path,
        cells: Iterable[PlannedCell],
        budget: SweepBudget,
        costs: Costs,
        clock: Callable[[], float] = time.monotonic,
        *,
        cancel: Cancellation | None = None,
    ) -> None:
        self.folder = folder
        """Of the sweep."""
        cells = tuple(cells)
        self.names = names = {cell.name for cell in cells}
        """Of the cells to be run."""
        self.total = len(cells)
        """Cells to be run at the beginning, those among them that follow others."""
        self._waiting = deque(cell for cell in cells if cell.follows not in names)
        self._following = {cell.follows: cell for cell in cells if cell.follows in names}
        self._budget = budget
        self._costs = costs
        self._deaths: Counter[str] = Counter()
        self._fruitless = 0
        self._failures_in_a_row = 0
        self.show: Callable[[], None] = lambda: None
        """Called on every change, and several times a second."""
        self.track: Callable[[Path], None] = lambda _: None
        """Called with the folder of every cell that ends."""
        self.under_way: dict[str, PlannedCell] = {}
        """Handed out and not done."""
        self.running: set[str] = set()
        """Those of them that run."""
        self.finished: list[FinishedCell] = []
        """Cells that have ended since the beginning of this command."""
        self._clock = clock
        self._calls: dict[str, tuple[float, CallStatus]] = {}
        self.waits = ""
        """What the engine waits for, where that is not its cells."""
        self.stop: Stop | None = None
        """Why no more cells begin."""
        self.reason = ""
        """The same in words."""
        self._requests = cancel.requests if cancel is not None else []
        self._heeded = 0
        self._dropping = False

    @property
    def waiting(self) -> int:
        """Cells that wait for a worker, and for no other cell."""
        return len(self._waiting)

    @property
    def stopping(self) -> bool:
        """Whether no new cell may begin."""
        self._heed()
        return self.stop is not None

    @property
    def dropping(self) -> bool:
        """Whether even the cells under way must end at once."""
        self._heed()
        return self._dropping

    def _heed(self) -> None:
        """Follow the requests to stop that came since: whoever made them, the queue changes in its own thread alone."""
        for request in self._requests[self._heeded :]:
            self._heeded += 1
            again = self.stop is not None and not request.drop
            reason = f"{request.reason}; what is under way is dropped" if again else request.reason
            self.end(request.stop, reason, drop=request.drop or again)

    @property
    def calls(self) -> CallStatus:
        """The calls of all workers together, as far as they report; those under way of workers that are not silent."""
        now, every = self._clock(), [status for _, status in self._calls.values()]
        heard = [(then, status) for then, status in self._calls.values() if now - then < SILENT]
        return CallStatus(
            worker="",
            answered=sum(status.answered for status in every),
            rate_limited=sum(status.rate_limited for status in every),
            spent=sum((status.spent for status in every), Spent()),
            simulated=any(status.simulated for status in every),
            under_way=sum(status.under_way for _, status in heard),
            longest=max((status.longest + now - then for then, status in heard if status.under_way), default=0.0),
            queued=sum(status.queued for _, status in heard),
            batches=next((status.batches for status in every if status.batches is not None), None),
        )

    def end(self, stop: Stop, reason: str, *, drop: bool = False) -> None:
        """Begin no more cells; with `drop`, end those under way at once, too."""
        if self.stop is None or drop:
            self.stop, self.reason = stop, reason
        self._dropping = self._dropping or drop

    def take(self, most: int, *, idle: bool) -> Shard | None:
        """Return the next shard: cells that a worker died with twice one by one, to an idle worker only."""
        cells: list[PlannedCell] = []
        while self._waiting and len(cells) < most and not self.stopping:
            cell = self._waiting[0]
            alone = self._deaths[cell.name] >= MOST_DEATHS - 1
            if alone and (cells or not idle):
                break
            if not self._affordable(cell):
                break
            cells.append(self._waiting.popleft())
            self.under_way[cell.name] = cell
            if alone:
                return Shard((cell,), alone=True)
        return Shard(tuple(cells)) if cells else None

    def _affordable(self, cell: PlannedCell) -> bool:
        """Whether the budget allows a cell as well as all that are under way; when it never will, the sweep stops.

        While nothing is known of what cells cost, one is run at a time.
        """
        if not (self._budget.any and cell.uses_models):
            return True
        costs, spent = self._costs, self._costs.spent
        if self._budget.usd is not None and spent.unpriced:
            reason = "the price of answers that the sweep has paid for already is not known"
            self.end(Stop.STUCK, f"--budget-usd: {reason}. {_PRICES}")
            return False
        asking = [c for c in (*self.under_way.values(), cell) if c.uses_models]
        expected = [costs.expected(c.kind) or costs.most() for c in asking]
        known = [e for e in expected if e is not None]
        if len(known) < len(expected) > 1:
            return False
        usd = spent.usd + fsum(e.usd for e in known)
        tokens = spent.tokens + sum(e.tokens for e in known)
        calls = spent.answers + sum(e.answers for e in known)
        slack = 1e-9 * usd
        used_up = self._budget.reached(spent)
        bound = self._budget.exceeded(usd - slack, tokens, calls) or used_up
        if bound and not self.under_way:
            self.end(Stop.BUDGET, f"the budget of the sweep does not reach for another cell ({bound})")
        return not bound

    def report(self, report: WorkerReport) -> None:
        """Take a report of a worker."""
        match report:
            case Started(name) if name in self.under_way:
                self.running.add(name)
                _log.info("%s is under way", name)
            case Finished(done):
                self._finish(done)
            case CallStatus(worker):
                self._calls[worker] = (self._clock(), report)
            case Waits(what):
                self.waits = what
            case Stuck(message):
                self.end(Stop.STUCK, message, drop=True)
        self.show()

    def _finish(self, done: FinishedCell) -> None:
        cell = self.under_way.pop(done.name, None)
        self.running.discard(done.name)
        if cell is None:
            return
        self.finished.append(done)
        self.track(self.folder / done.name)
        _log.info("%s is done: %s %s", done.name, done.outcome, done.reason)
        self._fruitless = 0
        self._costs.add(cell.kind, done)
        if done.name in self._costs.dropped:  # a killed attempt whose answers the cell got back is gone
            self._costs.dropped[done.name] = sum(map(read_paid, attempts_at(self.folder, done.name)), Spent())
        if self._budget.usd is not None and done.spent.unpriced:
            self.end(Stop.STUCK, f"--budget-usd: the price of the model in {done.name} is not known. {_PRICES}")
        if not done.failed and (following := self._following.pop(done.name, None)) is not None:
            self._waiting.append(following)
        self._failures_in_a_row = self._failures_in_a_row + 1 if done.failed else 0
        if self._failures_in_a_row >= MOST_FAILURES:
            self.end(
                Stop.FAILURES, f"{MOST_FAILURES} cells in a row ended in an error, the last one with: {done.reason}"
            )

    def lost(self, cells: tuple[PlannedCell, ...], reason: str) -> None:
        """Take cells back whose worker is no more, and remove what it left of them."""
        _log.info("a worker is no more, it had %d cells: %s", len(cells), reason)
        if not self.stopping and cells:
            self._fruitless = 0 if any(cell.name in self.running for cell in cells) else self._fruitless + 1
            if self._fruitless >= MOST_FRUITLESS:
                self.end(Stop.STUCK, f"{MOST_FRUITLESS} workers in a row ended before they began a cell: {reason}")
        again = []
        for cell in cells:
            done = read_finished(self.folder / cell.name)
            if done is not None:
                self._finish(done)
                continue
            began = cell.name in self.running
            self.under_way.pop(cell.name, None)
            self.running.discard(cell.name)
            dropped = self._costs.dropped
            dropped[cell.name] = clear_partials(self.folder, cell.name) + dropped.get(cell.name, Spent())
            if began and not self.dropping:
                self._deaths[cell.name] += 1
            if self._deaths[cell.name] >= MOST_DEATHS:
                self._give_up(cell, reason)
            else:
                again.append(cell)
        self._waiting.extendleft(reversed(again))
        self.show()

    def _give_up(self, cell: PlannedCell, reason: str) -> None:
        error = WorkerDied(f"{MOST_DEATHS} workers died with this cell; of the last one: {reason}")
        leave_error(cell.cell(), EpisodeFolder(self.folder, cell.name, once=True), error)
        done = read_finished(self.folder / cell.name)
        assert done is not None
        self.under_way[cell.name] = cell
        self._finish(done)

    def tick(self) -> None:
        """Be called several times a second while the engine runs."""
        self.show()

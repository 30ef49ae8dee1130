"""The queue of cells still to run: those waiting, those running, and the results of the others."""

from __future__ import annotations

import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from pathlib import Path

from quorum.agents.llm.spending import Spent
from quorum.episode.episode_folder import EpisodeFolder
from quorum.episode.expected import Expected
from quorum.episode.planned_cell import PlannedCell
from quorum.episode.runner import leave_error
from quorum.runs.finished import FinishedCell, dropped_at, read_finished
from quorum.sweeps.accounts import EVERYTHING, Amounts
from quorum.sweeps.engines.protocol import (
    MOST_FRUITLESS,
    CallStatus,
    Cut,
    Finished,
    Shard,
    Started,
    Stuck,
    Waits,
    WorkerReport,
)
from quorum.sweeps.in_flight import charge
from quorum.sweeps.ledger import Ledger
from quorum.sweeps.spending import Costs
from quorum.sweeps.stopping import Cancellation, Stop
from quorum.sweeps.sweep_folder import clear_partials

_log = logging.getLogger(__name__)

MOST_DEATHS = 3
"""Times that a cell may kill its worker; on the last attempt it runs alone."""
MOST_FAILURES = 10
"""Consecutive cells that may end in an error before the sweep stops, as all cells then share some problem."""


SILENT = 10.0
"""Seconds after which a silent worker may be dead and no longer counts as waiting for answers."""

MARGIN = 2.0
"""Multiple of the estimate to reserve for a cell of a kind without finished cells, as far as it is left."""
_REST = 0.25
"""Share of the mean to reserve for a cell whose earlier attempts have already paid for the whole mean."""

_PRICES = "Use --budget-tokens N, or give prices from the beginning: llm.prices."


class WorkerDied(Exception):
    """A cell killed its worker repeatedly."""


class Queue:
    """Implements `quorum.sweeps.engines.protocol.CellQueue`.

    Args:
        folder: folder of the sweep.
        cells: cells to run, in order; a cell that follows another one starts when that is done.
        costs: costs of finished cells; later cells are added.
        ledger: accounts of the sweep's budget; None: no budget.
        guess: returns the estimate for a cell of a kind without finished cells; None if unknown.
        clock: returns monotonic seconds.
        cancel: lets others stop the sweep; None: it cannot be cancelled.
    """

    def __init__(
        self,
        folder: Path,
        cells: Iterable[PlannedCell],
        costs: Costs,
        clock: Callable[[], float] = time.monotonic,
        *,
        ledger: Ledger | None = None,
        guess: Callable[[PlannedCell], Expected | None] = lambda _: None,
        cancel: Cancellation | None = None,
    ) -> None:
        self.folder = folder
        """Folder of the sweep."""
        cells = tuple(cells)
        self.names = names = {cell.name for cell in cells}
        """Names of the cells to run."""
        self.total = len(cells)
        """Initial number of cells to run, including those that follow others."""
        self._waiting = deque(cell for cell in cells if cell.follows not in names)
        self._following = {cell.follows: cell for cell in cells if cell.follows in names}
        self._ledger = ledger
        self._guess = guess
        self._costs = costs
        self._deaths: Counter[str] = Counter()
        self._fruitless = 0
        self._failures_in_a_row = 0
        self.show: Callable[[], None] = lambda: None
        """Called on every change, and several times a second."""
        self.track: Callable[[Path], None] = lambda _: None
        """Called with the folder of every cell that ends."""
        self.under_way: dict[str, PlannedCell] = {}
        """Cells handed out and not done."""
        self.running: set[str] = set()
        """Those of them that are running."""
        self.finished: list[FinishedCell] = []
        """Cells that have ended in this command."""
        self._clock = clock
        self._calls: dict[str, tuple[float, CallStatus]] = {}
        self.waits = ""
        """What the engine is waiting for, other than its cells."""
        self.stop: Stop | None = None
        """Why no more cells start."""
        self.reason = ""
        """The same as text."""
        self._requests = cancel.requests if cancel is not None else []
        self._heeded = 0
        self._dropping = False

    @property
    def waiting(self) -> int:
        """Number of cells that wait for a worker but for no other cell."""
        return len(self._waiting)

    @property
    def stopping(self) -> bool:
        """Whether no new cell may start."""
        self._heed()
        return self.stop is not None

    @property
    def dropping(self) -> bool:
        """Whether even running cells must end immediately."""
        self._heed()
        return self._dropping

    def _heed(self) -> None:
        """Process new stop requests; this runs in the queue's own thread, so only that thread changes the queue."""
        for request in self._requests[self._heeded :]:
            self._heeded += 1
            again = self.stop is not None and not request.drop
            reason = f"{request.reason}; cells in progress are dropped" if again else request.reason
            self.end(request.stop, reason, drop=request.drop or again)

    @property
    def calls(self) -> CallStatus:
        """Sum of the reported calls of all workers; calls in progress exclude silent workers."""
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
            delivery=next((status.delivery for status in every if status.delivery), ()),
        )

    def end(self, stop: Stop, reason: str, *, drop: bool = False) -> None:
        """Start no more cells; with `drop`, end running cells immediately, too."""
        if self.stop is None or drop:
            self.stop, self.reason = stop, reason
        self._dropping = self._dropping or drop

    def take(self, most: int, *, idle: bool) -> Shard | None:
        """Return the next shard; a cell that has killed two workers runs alone, in an idle worker."""
        cells: list[PlannedCell] = []
        while len(cells) < most and not self.stopping and (place := self._next()) is not None:
            cell = self._waiting[place]
            alone = self._deaths[cell.name] >= MOST_DEATHS - 1
            if alone and (cells or not idle):
                break
            if not self._affordable(cell):
                break
            del self._waiting[place]
            cells.append(cell)
            self.under_way[cell.name] = cell
            if alone:
                return Shard((cell,), alone=True)
        return Shard(tuple(cells)) if cells else None

    @property
    def _asking(self) -> list[PlannedCell]:
        """Running cells that may call language models."""
        return [cell for cell in self.under_way.values() if cell.uses_models]

    def _next(self) -> int | None:
        """Return the index of the first waiting cell that may start within the budget; None if there is none.

        Only one cell runs at a time of a kind without finished cells, because its cost is unknown.
        """
        if self._ledger is None:
            return 0 if self._waiting else None
        learning = {cell.kind for cell in self._asking if self._costs.expected(cell.kind) is None}
        return next((place for place, cell in enumerate(self._waiting) if cell.kind not in learning), None)

    def _affordable(self, cell: PlannedCell) -> bool:
        """Whether the budget allows a cell in addition to the running ones; if it never will, the sweep stops.

        The budget allows a cell if its expected usage can be reserved. A cell without an estimate reserves all that is
        left, and therefore runs alone.
        """
        if self._ledger is None or not cell.uses_models:
            return True
        alone = not self._asking
        with self._ledger.changing() as accounts:
            if self._costs.spent.unpriced and accounts.budget.usd is not None:
                reason = "the price of answers that the sweep has already paid for is unknown"
                self.end(Stop.STUCK, f"--budget-usd: {reason}. {_PRICES}")
                return False
            least, most = self._wanted(cell, alone=alone)
            bound = accounts.reserve(cell.name, least, most, cell.kind)
        if bound and alone:
            self.end(Stop.BUDGET, f"the remaining budget of the sweep does not cover another cell ({bound})")
        return not bound

    def _wanted(self, cell: PlannedCell, *, alone: bool) -> tuple[Amounts, Amounts]:
        """Return the amounts that must be left for a cell to start, and those to reserve for it."""
        known = self._costs.expected(cell.kind)
        found = known or self._guess(cell)
        if found is None:
            return (Amounts(), EVERYTHING) if alone else (EVERYTHING, EVERYTHING)
        whole = Amounts(0.0 if found.priceless else found.usd, found.tokens, found.answers)
        paid = Amounts.of(self._costs.dropped.get(cell.name, Spent()))
        least = (whole - paid).most(whole.times(_REST))
        most = least.times(1.0 if known else MARGIN)
        return (least if alone else most), most

    def report(self, report: WorkerReport) -> None:
        """Process a worker's report."""
        match report:
            case Started(name) if name in self.under_way:
                self.running.add(name)
                _log.info("%s is under way", name)
            case Finished(done):
                self._finish(done)
            case Cut(name, bound) if name in self.under_way:
                self._waiting.appendleft(self._cut(self.under_way[name], bound))
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
        if done.name in self._costs.dropped:  # except what the cell reused of them
            self._costs.dropped[done.name] = dropped_at(self.folder, done.name)
        self._settle(done.name)
        if not done.failed and (following := self._following.pop(done.name, None)) is not None:
            self._waiting.append(following)
        self._failures_in_a_row = self._failures_in_a_row + 1 if done.failed else 0
        if self._failures_in_a_row >= MOST_FAILURES:
            self.end(
                Stop.FAILURES, f"{MOST_FAILURES} cells in a row ended in an error, the last one with: {done.reason}"
            )

    def _cut(self, cell: PlannedCell, bound: str) -> PlannedCell:
        """Take back a cell that the budget cut; keep its paid answers."""
        self._take_back(cell)
        self.end(Stop.BUDGET, f"the budget of the sweep is used up ({bound}); cells that it stopped keep their answers")
        return cell

    def _take_back(self, cell: PlannedCell) -> None:
        """Set aside the files of a cell that is no longer running."""
        self.under_way.pop(cell.name, None)
        self.running.discard(cell.name)
        if self._ledger is not None:
            with self._ledger.changing() as accounts:
                if cell.name in accounts.cells:
                    self._costs.in_flight += charge(self.folder, accounts, cell.name)
        dropped = self._costs.dropped
        dropped[cell.name] = clear_partials(self.folder, cell.name) + dropped.get(cell.name, Spent())
        self._settle(cell.name)

    def _settle(self, name: str) -> None:
        """Update the accounts from the records of a cell that is no longer running."""
        if self._ledger is None:
            return
        with self._ledger.changing() as accounts:
            accounts.settle([name], self._costs.used)
            unpriced = accounts.unpriced if accounts.budget.usd is not None else ""
        if unpriced:
            self.end(Stop.STUCK, f"--budget-usd: the price of the model {unpriced} in {name} is unknown. {_PRICES}")

    def _bound_of(self, name: str) -> str:
        """Return the limit that cut a cell; empty if none did."""
        if self._ledger is None:
            return ""
        with self._ledger.changing() as accounts:
            account = accounts.cells.get(name)
            return account.cut if account is not None else ""

    def lost(self, cells: tuple[PlannedCell, ...], reason: str) -> None:
        """Take back cells whose worker is gone, and remove their leftovers."""
        _log.info("a worker is gone; it had %d cells: %s", len(cells), reason)
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
            if bound := self._bound_of(cell.name):
                again.append(self._cut(cell, bound))
                continue
            began = cell.name in self.running
            self._take_back(cell)
            if began and not self.dropping:
                self._deaths[cell.name] += 1
            if self._deaths[cell.name] >= MOST_DEATHS:
                self._give_up(cell, reason)
            else:
                again.append(cell)
        self._waiting.extendleft(reversed(again))
        self.show()

    def _give_up(self, cell: PlannedCell, reason: str) -> None:
        error = WorkerDied(f"{MOST_DEATHS} workers died while running this cell; the last one: {reason}")
        leave_error(cell.cell(), EpisodeFolder(self.folder, cell.name, once=True), error)
        done = read_finished(self.folder / cell.name)
        assert done is not None
        self.under_way[cell.name] = cell
        self._finish(done)

    def tick(self) -> None:
        """Do periodic work; the engine calls this several times a second."""
        self.show()

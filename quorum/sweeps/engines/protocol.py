"""The protocol between a sweep and the engines that run its cells.

An engine takes shards of cells from the sweep's queue, runs them anywhere, and reports the results. Finished work is
stored in the folders of the cells, never in an engine, so an engine that dies loses only the episodes that were
running.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from quorum.agents.llm.delivery import Delivery
from quorum.agents.llm.spending import Spent
from quorum.episode.planned_cell import PlannedCell
from quorum.installation.provenance import CodeVersion
from quorum.runs.finished import FinishedCell

MOST_FRUITLESS = 3
"""Consecutive workers that may exit before starting a cell; after that the engine starts no more."""


class Courier(ABC):
    """Delivers the requests of all cells of a sweep at batch prices: the engine that has one sends none itself.

    Instances can be pickled.
    """

    @abstractmethod
    def check(self, folder: Path, cells: Iterable[PlannedCell]) -> None:
        """Check that the requests of cells can be delivered, before anything is sent.

        Args:
            folder: folder of the sweep; it need not exist.
            cells: cells of the plan.

        Raises:
            UserError: the requests cannot be delivered.
        """

    @abstractmethod
    def open(self, folder: Path) -> Delivery:
        """Return a worker's delivery for the sweep in `folder`.

        Raises:
            UserError: files that an earlier worker left there are damaged.
        """

    @abstractmethod
    def cancel(self, folder: Path, cells: Iterable[PlannedCell]) -> dict[str, Any]:
        """Cancel open requests at the providers; return JSON-ready counts.

        Raises:
            UserError: another command runs the sweep, or a provider does not answer.
        """


@dataclass(frozen=True, slots=True)
class SweepJob:
    """What every worker of a sweep needs to know; instances can be pickled.

    Attributes:
        folder: absolute folder of the sweep.
        directory: the user's current folder; relative paths in a configuration start there.
        plugins: modules that register components.
        code: the code version that workers must run.
        claim: claim of the command that runs the sweep; see `quorum.sweeps.engines.locks`.
        courier: delivers all requests; None: each request is a direct call.
        budgeted: whether the sweep has a budget; see `quorum.sweeps.ledger`.
    """

    folder: Path
    directory: Path
    plugins: tuple[str, ...]
    code: CodeVersion
    claim: str
    courier: Courier | None = None
    budgeted: bool = False


@dataclass(frozen=True, slots=True)
class Shard:
    """Cells that are handed out together.

    Attributes:
        cells: at least one cell.
        alone: whether the worker may run nothing else, because workers died with these cells before.
    """

    cells: tuple[PlannedCell, ...]
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Started:
    """A cell has started."""

    name: str


@dataclass(frozen=True, slots=True)
class Finished:
    """A cell is done: its folder has its final name."""

    done: FinishedCell


@dataclass(frozen=True, slots=True)
class Cut:
    """The sweep's budget cut a cell: its folder keeps its temporary name.

    Attributes:
        name: name of the cell.
        bound: the limit that cut it.
    """

    name: str
    bound: str


@dataclass(frozen=True, slots=True)
class CallStatus:
    """State of a worker's model calls; reported at most once a second, when it changes.

    Attributes:
        worker: the worker.
        answered: calls that providers have answered since the worker started.
        rate_limited: calls that hit a rate limit.
        spent: usage of all answers, including cached ones.
        simulated: whether a simulated model gave any of them.
        under_way: calls that providers are answering now.
        longest: seconds that the longest of them has taken so far.
        queued: calls waiting in our own queue.
        delivery: the courier's facts, as parts of a status line; empty without a courier.
    """

    worker: str
    answered: int = 0
    rate_limited: int = 0
    spent: Spent = Spent()  # noqa: RUF009 (it is frozen)
    simulated: bool = False
    under_way: int = 0
    longest: float = 0.0
    queued: int = 0
    delivery: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stuck:
    """No cell can run any more: for example, the disk is full or the worker's machine lacks a plugin."""

    message: str


@dataclass(frozen=True, slots=True)
class Waits:
    """What the engine is waiting for, for the status line.

    Attributes:
        what: such as `2 jobs wait: Resources`; empty if it waits only for its cells.
    """

    what: str


WorkerReport = Started | Finished | Cut | CallStatus | Stuck | Waits


class CellQueue(Protocol):
    """The queue that an engine works on. Call all methods from the engine's own thread."""

    @property
    def waiting(self) -> int:
        """Number of cells waiting for a worker; a finished cell may make its followers ready."""

    @property
    def stopping(self) -> bool:
        """Whether no new cell may start: running cells finish, and no shard is handed out."""

    @property
    def dropping(self) -> bool:
        """Whether even running cells must end immediately."""

    def take(self, most: int, *, idle: bool) -> Shard | None:
        """Return the next shard; None if no cell may start now.

        Args:
            most: maximum number of cells in the shard.
            idle: whether the worker has nothing else to do.
        """

    def report(self, report: WorkerReport) -> None:
        """Process a worker's report."""

    def lost(self, cells: tuple[PlannedCell, ...], reason: str) -> None:
        """Take back cells whose worker is gone; cells that finished anyway are recognized."""

    def tick(self) -> None:
        """Do periodic work; the engine calls this several times a second."""


class Engine(ABC):
    """Runs cells somewhere."""

    courier: Courier | None = None
    """Delivers the requests of its workers; None: each request is a direct call."""

    @abstractmethod
    def width(self, *, uses_models: bool) -> int:
        """Return the expected number of concurrent cells, for teams with or without language models."""

    @abstractmethod
    def run(self, work: CellQueue, job: SweepJob) -> None:
        """Take shards and run them until no cell is left or running, or the queue says to drop them.

        When this returns or raises, no worker writes into the sweep folder any more.

        Raises:
            UserError: the engine cannot be used here: for example, a package is missing or an address does not respond.
        """

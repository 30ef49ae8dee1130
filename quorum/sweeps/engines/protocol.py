"""What a sweep and the engines that run its cells know of each other.

An engine takes shards of cells from the work of a sweep, has them run where it likes, and reports what became of
them. What is done stands in the folders of the cells, never in an engine: an engine that dies with everything it knows
has lost nothing but the episodes that were under way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from quorum.agents.llm.spending import Spent
from quorum.episode.planned_cell import PlannedCell
from quorum.installation.provenance import CodeVersion
from quorum.runs.finished import FinishedCell
from quorum.sweeps.engines.courier import Courier

MOST_FRUITLESS = 3
"""Workers in a row that end before they begin a cell, after which no other one is tried."""


@dataclass(frozen=True, slots=True)
class SweepJob:
    """What every worker of a sweep must know; it can be pickled.

    Attributes:
        folder: of the sweep, absolute.
        directory: the user's own; relative paths in a configuration start there.
        plugins: modules that register components.
        code: the code that the workers must run, too.
        claim: of the command that runs the sweep; see `quorum.sweeps.engines.locks`.
        courier: delivers all requests; None where each is a call.
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
        cells: at least one.
        alone: whether nothing else may run in the same worker: workers died with them before.
    """

    cells: tuple[PlannedCell, ...]
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Started:
    """A cell has begun."""

    name: str


@dataclass(frozen=True, slots=True)
class Finished:
    """A cell is done: its folder has its final name."""

    done: FinishedCell


@dataclass(frozen=True, slots=True)
class Cut:
    """The budget of the sweep has ended a cell: its folder keeps its passing name.

    Attributes:
        name: of the cell.
        bound: that has cut it.
    """

    name: str
    bound: str


@dataclass(frozen=True, slots=True)
class CallStatus:
    """What has become of a worker's calls of language models: reported every second in which something changes.

    Attributes:
        worker: which one.
        answered: calls that a provider has answered since the worker began.
        rate_limited: calls that met a rate limit.
        spent: what all answers took, those of the cache among them.
        simulated: whether a simulated model gave one of them.
        under_way: calls that a provider answers now.
        longest: seconds that one of them has taken so far.
        queued: calls that wait for a place in our own queue.
        delivery: facts of the courier, as parts of a status line; empty where there is none.
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
    """No cell can be run any more, whichever it is: the disk is full, a plugin is missing on the worker's machine."""

    message: str


@dataclass(frozen=True, slots=True)
class Waits:
    """What the engine waits for, for the status line.

    Attributes:
        what: such as `2 jobs wait: Resources`; empty when it waits for nothing but its cells.
    """

    what: str


WorkerReport = Started | Finished | Cut | CallStatus | Stuck | Waits


class CellQueue(Protocol):
    """What an engine is to do. All of it is called from the thread in which the engine runs."""

    @property
    def waiting(self) -> int:
        """Cells that wait for a worker; a cell that is done may let another one wait."""

    @property
    def stopping(self) -> bool:
        """Whether no new cell may begin: those under way are finished, no shard is given out."""

    @property
    def dropping(self) -> bool:
        """Whether even the cells under way must end at once."""

    def take(self, most: int, *, idle: bool) -> Shard | None:
        """Return the next shard; None when nothing may begin now.

        Args:
            most: cells that it may have, at most.
            idle: whether the worker that is to run it has nothing else to do.
        """

    def report(self, report: WorkerReport) -> None:
        """Take a report of a worker."""

    def lost(self, cells: tuple[PlannedCell, ...], reason: str) -> None:
        """Take cells back whose worker is no more; those that are done all the same are seen."""

    def tick(self) -> None:
        """Be called several times a second while the engine runs."""


class Engine(ABC):
    """Runs cells somewhere."""

    courier: Courier | None = None
    """Delivers the requests of its workers; None where each request is a call."""

    @abstractmethod
    def width(self, *, uses_models: bool) -> int:
        """Return how many cells, of teams with language models or of others, are under way at once; a forecast."""

    @abstractmethod
    def run(self, work: CellQueue, job: SweepJob) -> None:
        """Take shards and have them run until none is left and none is under way, or the work says to drop them.

        No worker writes into the folder of the sweep any more when this returns or raises.

        Raises:
            UserError: the engine cannot be used here: a package is missing, nothing answers at an address.
        """

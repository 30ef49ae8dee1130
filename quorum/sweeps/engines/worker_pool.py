"""Hands out the cells of a sweep to workers one by one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

from quorum.episode.planned_cell import PlannedCell
from quorum.sweeps.engines.protocol import CellQueue, Cut, Finished, Shard, WorkerReport

BEAT = 0.2
"""Seconds after which an engine checks for changes even if nothing is reported."""
_AHEAD = 2
"""Compute-only cells that a worker holds: the running one and the next, so that it never waits."""


class Member(ABC):
    """A worker as its engine sees it."""

    def __init__(self) -> None:
        self.cells: dict[str, PlannedCell] = {}
        """Cells that it holds and has not finished, by name."""
        self._alone = False

    def has_room(self, episodes: int | None) -> bool:
        """Whether it can take another cell.

        Args:
            episodes: concurrent episodes of teams with language models; None: no limit.
        """
        if self._alone and self.cells:
            return False
        if episodes is None:
            return True
        waits = all(cell.uses_models for cell in self.cells.values())
        return len(self.cells) < (episodes if waits else _AHEAD)

    def give(self, shard: Shard) -> None:
        """Hand over a shard."""
        self.cells |= {cell.name: cell for cell in shard.cells}
        self._alone = shard.alone
        self.send(shard.cells)

    def hear(self, report: WorkerReport) -> None:
        """Process a report: a finished cell makes room for another one."""
        match report:
            case Finished(done):
                self.cells.pop(done.name, None)
            case Cut(name):
                self.cells.pop(name, None)

    @abstractmethod
    def send(self, cells: tuple[PlannedCell, ...]) -> None:
        """Transfer cells to the worker."""


AnyMember = TypeVar("AnyMember", bound=Member)


def hand_out(
    work: CellQueue, members: list[AnyMember], episodes: int | None, another: Callable[[], AnyMember | None]
) -> None:
    """Give cells to the least busy workers until all are busy or no cell may start.

    Args:
        work: the sweep's queue.
        members: the workers; others join while all are busy.
        episodes: concurrent episodes of teams with language models per worker; None: no limit.
        another: starts a worker; returns None once the maximum is reached.
    """
    while not work.stopping and work.waiting:
        member = min(members, key=lambda m: len(m.cells), default=None)
        if (member is None or member.cells) and (new := another()) is not None:
            members.append(new)
            member = new
        if member is None or not member.has_room(episodes):
            return
        shard = work.take(1, idle=not member.cells)
        if shard is None:
            return
        member.give(shard)

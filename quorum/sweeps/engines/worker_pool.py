"""How the cells of a sweep are handed out to workers that take them one by one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

from quorum.episode.planned_cell import PlannedCell
from quorum.sweeps.engines.protocol import CellQueue, Cut, Finished, Shard, WorkerReport

BEAT = 0.2
"""Seconds after which an engine looks up even when nothing is reported."""
_AHEAD = 2
"""Cells that only compute which a worker has: the one that it runs, and the next, so that it never waits."""


class Member(ABC):
    """A worker, seen by its engine."""

    def __init__(self) -> None:
        self.cells: dict[str, PlannedCell] = {}
        """Those that it was given and has not finished, by name."""
        self._alone = False

    def has_room(self, episodes: int | None) -> bool:
        """Whether it can be given another cell.

        Args:
            episodes: of teams with language models that it may play at once; None: all cells there are.
        """
        if self._alone and self.cells:
            return False
        if episodes is None:
            return True
        waits = all(cell.uses_models for cell in self.cells.values())
        return len(self.cells) < (episodes if waits else _AHEAD)

    def give(self, shard: Shard) -> None:
        """Hand a shard over."""
        self.cells |= {cell.name: cell for cell in shard.cells}
        self._alone = shard.alone
        self.send(shard.cells)

    def hear(self, report: WorkerReport) -> None:
        """Take note of a report: a cell that it has ended makes room for another one."""
        match report:
            case Finished(done):
                self.cells.pop(done.name, None)
            case Cut(name):
                self.cells.pop(name, None)

    @abstractmethod
    def send(self, cells: tuple[PlannedCell, ...]) -> None:
        """Bring cells to where it runs."""


AnyMember = TypeVar("AnyMember", bound=Member)


def hand_out(
    work: CellQueue, members: list[AnyMember], episodes: int | None, another: Callable[[], AnyMember | None]
) -> None:
    """Return the worker with the fewest cells another one, until all are busy or nothing may begin.

    Args:
        work: of the sweep.
        members: the workers; while all have something to do, others join.
        episodes: of teams with language models that a worker may play at once; None: all cells there are.
        another: starts a worker; gives None where there are as many as there may be.
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

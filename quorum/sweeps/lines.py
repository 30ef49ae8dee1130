"""Lines of episodes: cells that differ only in `episode`, whose teams keep their memory, run in order.

Each episode starts with the memory that the previous one left in its folder. It can start once the previous one is
done, and remains valid only while that folder still holds the memory it started with.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

from quorum.episode.planned_cell import PlannedCell
from quorum.runs.finished import FinishedCell
from quorum_base.user_errors import UserError


def linked(cells: Sequence[PlannedCell]) -> tuple[PlannedCell, ...]:
    """Return the cells, each with the cell that it follows.

    Raises:
        UserError: a line has a gap, or does not start with its first episode.
    """
    names = {(cell.line, cell.episode): cell.name for cell in cells if cell.line}
    found = []
    for cell in cells:
        if cell.line and cell.episode > 0:
            before = names.get((cell.line, cell.episode - 1))
            if before is None:
                raise UserError(
                    f"episode={cell.episode}: its team remembers earlier episodes, "
                    f"and the sweep has no episode {cell.episode - 1}",
                    f"A line needs all its episodes: 'episode=range(0,{cell.episode + 1})'. "
                    "With memory.keep=false, every episode starts without a memory.",
                )
            cell = replace(cell, follows=before)  # noqa: PLW2901
        found.append(cell)
    return tuple(found)


def in_order(cells: Sequence[PlannedCell]) -> tuple[PlannedCell, ...]:
    """Return cells with each one after the cell that it follows, and otherwise in the given order."""
    return tuple(sorted(cells, key=lambda cell: cell.episode if cell.line else 0))


def broken(cells: Sequence[PlannedCell], done: Mapping[str, FinishedCell]) -> dict[str, str]:
    """Return the finished cells that no longer fit their line, with the reasons, by name."""
    found: dict[str, str] = {}
    for cell in in_order(cells):
        if not cell.follows or cell.name not in done:
            continue
        before = done.get(cell.follows)
        if before is None or cell.follows in found:
            found[cell.name] = f"the preceding episode must be played first: {cell.follows}"
        elif done[cell.name].memory_before != before.memory_after:
            found[cell.name] = f"it started from a different memory than this episode left: {cell.follows}"
    return found


def held(cells: Sequence[PlannedCell], done: Mapping[str, FinishedCell], again: Container[str] = ()) -> frozenset[str]:
    """Return the names of the cells that cannot run because an earlier episode in their line failed.

    Args:
        cells: cells of a plan.
        done: finished cells, by name.
        again: names of finished cells that are to run again.
    """
    found: set[str] = set()
    for cell in in_order(cells):
        before = done.get(cell.follows)
        failed = before is not None and before.failed and cell.follows not in again
        if cell.name not in done and (failed or cell.follows in found):
            found.add(cell.name)
    return frozenset(found)

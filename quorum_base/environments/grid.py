"""Distances and shortest paths between the cells of a grid."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable

Cell = tuple[int, int]
"""Row and column, from 0; row 0 is in the north."""


def distance(one: Cell, other: Cell) -> int:
    """Return the Manhattan distance between two cells."""
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def shortest(
    start: Cell,
    goals: Collection[Cell],
    neighbours: Callable[[Cell], Iterable[Cell]],
    is_free: Callable[[Cell], bool],
) -> tuple[Cell, ...]:
    """Return a shortest path from a cell to the nearest goal, including both; empty if no goal can be reached.

    Args:
        start: first cell of the path; it need not be free.
        goals: cells where the path may end.
        neighbours: returns the cells next to a cell; their order breaks ties between paths of equal length.
        is_free: whether the path may enter a cell.
    """
    before: dict[Cell, Cell | None] = {start: None}
    queue = deque([start])
    while queue:
        cell: Cell | None = queue.popleft()
        if cell in goals:
            way = []
            while cell is not None:
                way.append(cell)
                cell = before[cell]
            return tuple(reversed(way))
        assert cell is not None
        for near in neighbours(cell):
            if near not in before and is_free(near):
                before[near] = cell
                queue.append(near)
    return ()

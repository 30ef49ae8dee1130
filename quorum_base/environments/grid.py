"""Cells of a grid: how far apart they are, and the shortest way from one to others."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable

Cell = tuple[int, int]
"""Row and column, from 0; row 0 is in the north."""


def distance(one: Cell, other: Cell) -> int:
    """Return the Manhattan distance of two cells."""
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def shortest(
    start: Cell,
    goals: Collection[Cell],
    neighbours: Callable[[Cell], Iterable[Cell]],
    is_free: Callable[[Cell], bool],
) -> tuple[Cell, ...]:
    """Return a shortest way from a cell to the nearest goal, both among it; empty where none leads.

    Args:
        start: where it begins, even if it is not free.
        goals: where it may end.
        neighbours: returns the cells next to a cell; of ways of the same length, their order decides.
        is_free: whether the way may lead through a cell.
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

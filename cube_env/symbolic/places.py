"""The places that `navigate` goes to, other than the face of a block."""

from __future__ import annotations

from cube_env.arrays import IntArray
from cube_env.constants import Cell
from cube_env.state import CubeState
from cube_env.symbolic.actions import Entity, Navigate


def is_there(state: CubeState, place: Navigate, agent: int) -> bool:
    """Whether an agent is at a place: next to the other agent, in the goal column, or on the cell."""
    row, col = state.agents[agent].tolist()
    if place.entity is Entity.agent:
        assert place.id is not None
        other_row, other_col = state.agents[place.id].tolist()
        return bool(abs(row - other_row) + abs(col - other_col) == 1)
    if place.entity is Entity.goal:
        return bool(col == state.side - 1)
    return (row, col) == place.cell


def find_place(state: CubeState, place: Navigate, targets: IntArray) -> tuple[int, bool]:
    """Find the cells of a place: the free ones, or, when there is none, those where agents stand.

    Args:
        state: the arrays.
        place: where to go.
        targets: (K, 2) the cells, written here.

    Returns:
        The number of cells, and whether agents stand on all of them; 0 when all are blocks and walls.
    """
    codes = [(cell, int(state.grid[cell])) for cell in _cells(state, place)]
    free = [cell for cell, code in codes if code == 0]
    found = free or [cell for cell, code in codes if code > 0]
    if found:
        targets[: len(found)] = found
    return len(found), not free


def _cells(state: CubeState, place: Navigate) -> list[Cell]:
    last = state.side - 1
    if place.entity is Entity.goal:
        return [(row, last) for row in range(state.side)]
    if place.entity is Entity.cell:
        assert place.cell is not None
        return [place.cell]
    row, col = state.agents[place.id].tolist()
    around = (row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)
    return [(r, c) for r, c in around if 0 <= r <= last and 0 <= c <= last]

"""Kernels for the blocks of a step: where a team stands to push one, what moves with it, and how far it may advance.

A block that advances leaves room for the team of any block ahead that still waits for one: it never closes a face that
is still needed.
"""

from __future__ import annotations

import numpy as np

from quorum.agents.skills.cube.planner.arrays import ALIVE, CLEARANCE, COL, PUSHING, ROW, WEIGHT, Integers, Team
from quorum.agents.skills.cube.planner.jit import compiled


@compiled
def staging_cells(grid: Integers, block: Integers, wanted: int) -> tuple[int, Integers]:
    """Find cells to push a block to the right from: its left face, then the lines behind, nearest first.

    Args:
        grid: (K, K) occupancy.
        block: (4,) row, col, weight, and 1 while it is present.
        wanted: number of cells wanted.

    Returns:
        The number of cells found, at most `wanted`, and the cells by row, then from left to right.
    """
    top, left, weight = block[ROW], block[COL], block[WEIGHT]
    depth = np.zeros(weight, dtype=np.int64)
    found = 0
    grows = True
    while found < wanted and grows:
        grows = False
        lowest = depth.max()
        for k in range(weight):
            col = left - 1 - depth[k]
            if found < wanted and depth[k] == lowest and col >= 0 and grid[top + k, col] >= 0:
                depth[k] += 1
                found += 1
                grows = True
    cells = np.empty((found, 2), dtype=np.int64)
    at = 0
    for k in range(weight):
        for d in range(depth[k], 0, -1):
            cells[at, 0], cells[at, 1] = top + k, left - d
            at += 1
    return found, cells


@compiled
def clear_columns(team: Team, j: int, block: int) -> int:
    """Return the columns a block may advance before it comes too near to one that waits for its own team."""
    top, left, weight = team.blocks[block, ROW], team.blocks[block, COL], team.blocks[block, WEIGHT]
    clear = len(team.grid)
    for other in range(len(team.blocks)):
        row, col, size = team.blocks[other, ROW], team.blocks[other, COL], team.blocks[other, WEIGHT]
        rank = team.carrier[other]
        if not team.blocks[other, ALIVE] or row >= top + weight or row + size <= top or col < left + weight:
            continue
        if rank == j:
            continue
        if rank < 0 or team.phase[rank] != PUSHING:
            lines = 1 if rank < 0 else (team.members[rank].sum() + size - 1) // size
            clear = min(clear, int(col - left - weight - lines - CLEARANCE))
    return clear


@compiled
def chain(team: Team, j: int, moving: Integers) -> int:
    """Find the blocks that move with a task's block because they touch it, or one another.

    Returns:
        Their number; their ids are written to `moving`, the task's block first.
    """
    moving[0] = team.order[j]
    length, done = 1, 0
    while done < length:
        block = moving[done]
        done += 1
        top, col = team.blocks[block, ROW], team.blocks[block, COL] + team.blocks[block, WEIGHT]
        for row in range(top, top + team.blocks[block, WEIGHT]):
            entity = team.grid[row, col]
            if entity < 0 and team.carrier[-entity - 1] == j and -entity - 1 not in moving[:length]:
                moving[length] = -entity - 1
                length += 1
    return length


@compiled
def way_is_clear(team: Team, j: int, moving: Integers) -> bool:
    """Return whether the blocks that move with a task's block have nothing in front and may all advance."""
    grid = team.grid
    for k in range(chain(team, j, moving)):
        block = moving[k]
        if clear_columns(team, j, block) <= 0:
            return False
        top, col = team.blocks[block, ROW], team.blocks[block, COL] + team.blocks[block, WEIGHT]
        for row in range(top, top + team.blocks[block, WEIGHT]):
            if grid[row, col] > 0 or (grid[row, col] < 0 and team.carrier[-grid[row, col] - 1] != j):
                return False
    return True

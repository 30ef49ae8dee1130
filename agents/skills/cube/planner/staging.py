"""The tasks of a step: who gathers where, which team pushes, and what its block will sweep. Numba kernels.

A block that advances leaves room for the team of any block ahead that still waits for one: it never closes a face that
is still needed. In front of a moving block lies its lane, which it will sweep, and in the lane its bow: the cells that
an agent could not leave in time.
"""

from __future__ import annotations

import numpy as np

from quorum.agents.skills.cube.planner.arrays import (
    ALIVE,
    BOW,
    CLEARANCE,
    COL,
    DONE,
    GATHERING,
    LANE,
    OPEN,
    PUSHING,
    RIGHT,
    ROW,
    STANDING,
    STAY,
    WALL,
    WEIGHT,
    Team,
)
from quorum.agents.skills.cube.planner.jit import Integers, compiled


@compiled
def begin_step(team: Team) -> None:
    """Bring tasks, targets and the ground up to date, and decide the actions of the teams that push."""
    team.actions[:] = STAY
    team.claimed[:] = False
    team.decided[:] = False
    _open_and_close_tasks(team)
    for j in range(len(team.order)):
        if team.phase[j] == GATHERING:
            _give_targets(team, j)
            _start(team, j)
    _survey(team)
    _push(team)


@compiled
def _open_and_close_tasks(team: Team) -> None:
    """Close the tasks of delivered blocks, and give their agents the next ones."""
    tasks = len(team.order)
    for j in range(tasks):
        if not team.blocks[team.order[j], ALIVE]:
            team.phase[j] = DONE
    for i in range(len(team.agents)):
        rank = 0
        while rank < tasks and (team.phase[rank] == DONE or not team.members[rank, i]):
            rank += 1
        if rank != team.current[i]:
            team.current[i] = rank
            team.target[i] = -1
            team.waited[i] = 0


@compiled
def _give_targets(team: Team, j: int) -> None:
    """Hand out the staging cells at a block's left face: from top to bottom, so that no two ways cross.

    Lines behind the face follow when it is full. Those who will come later keep their share.
    """
    coming = 0
    for i in range(len(team.agents)):
        coming += team.members[j, i] and team.current[i] == j and team.target[i, 0] < 0
    if coming == 0:
        return
    count, slots = staging_cells(team.grid, team.blocks[team.order[j]], team.members[j].sum())
    free = np.ones(count, dtype=np.bool_)
    waiting = np.empty(len(team.agents), dtype=np.int64)
    rows = np.empty(len(team.agents), dtype=np.int64)
    number = 0
    for i in range(len(team.agents)):
        if not team.members[j, i]:
            continue
        if team.current[i] == j and team.target[i, 0] >= 0:
            for k in range(count):
                if slots[k, 0] == team.target[i, 0] and slots[k, 1] == team.target[i, 1]:
                    free[k] = False
        else:
            waiting[number] = i
            rows[number] = team.agents[i, 0]
            number += 1
    by_row = np.argsort(rows[:number], kind="mergesort")
    k = 0
    for position in by_row:
        while k < count and not free[k]:
            k += 1
        if k == count:
            return
        if team.current[waiting[position]] == j:
            team.target[waiting[position]] = slots[k]
        k += 1


@compiled
def staging_cells(grid: Integers, block: Integers, wanted: int) -> tuple[int, Integers]:
    """Find cells to push a block to the right from: its left face, then the lines behind, nearest first.

    Args:
        grid: (K, K) occupancy.
        block: (4,) row, col, weight.
        wanted: how many.

    Returns:
        How many there are, at most `wanted`, and the cells by row, then from left to right.
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
def _start(team: Team, j: int) -> None:
    """Begin to push when all members stand at the block."""
    for i in range(len(team.agents)):
        if team.members[j, i] and (
            team.current[i] != j
            or team.agents[i, 0] != team.target[i, 0]
            or team.agents[i, 1] != team.target[i, 1]
            or team.target[i, 0] < 0
        ):
            return
    if may_advance(team, j, team.order[j]):
        team.phase[j] = PUSHING


@compiled
def _survey(team: Team) -> None:
    """Draw the ground for the searches: blocks, agents that stay, and the bows of moving blocks."""
    grid, ground = team.grid, team.ground
    for row in range(len(grid)):
        for col in range(len(grid)):
            ground[row, col] = WALL if grid[row, col] < 0 else OPEN
    for i in range(len(team.agents)):
        row, col = team.agents[i, 0], team.agents[i, 1]
        if row == team.target[i, 0] and col == team.target[i, 1]:
            ground[row, col] = STANDING
    moving = np.empty(len(team.blocks), dtype=np.int64)
    for j in range(len(team.order)):
        if team.phase[j] != DONE:
            delay = _time_to_start(team, j)
            if delay < len(grid):
                for k in range(_chain(team, j, moving)):
                    _draw_bow(team, j, moving[k], delay)
    for i in range(len(team.agents)):
        j = team.current[i]
        if j < len(team.order) and team.phase[j] == PUSHING:
            ground[team.agents[i, 0], team.agents[i, 1]] = STANDING


@compiled
def _time_to_start(team: Team, j: int) -> int:
    """Steps until a task can begin to push, at least: the way of its farthest member; K when one is busy elsewhere."""
    if team.phase[j] == PUSHING:
        return 0
    longest = 0
    for i in range(len(team.agents)):
        if team.members[j, i]:
            if team.current[i] != j or team.target[i, 0] < 0:
                return len(team.grid)
            row, col = team.agents[i, 0], team.agents[i, 1]
            longest = max(longest, int(abs(row - team.target[i, 0]) + abs(col - team.target[i, 1])))
    return longest


@compiled
def may_advance(team: Team, j: int, block: int) -> bool:
    """Whether a block of a task may move on without closing the left face of another that waits for its team."""
    return _clear_columns(team, j, block) > 0


@compiled
def _clear_columns(team: Team, j: int, block: int) -> int:
    """Columns by which a block may advance before it comes too near to one that waits for a team of its own."""
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
def _chain(team: Team, j: int, moving: Integers) -> int:
    """Find the blocks that move with the block of a task because they touch it, or one another.

    Returns:
        How many they are; their ids are written to `moving`, that of the task first.
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
def _draw_bow(team: Team, j: int, block: int, delay: int) -> None:
    """Mark what lies before a block: its lane, and in it the cells that an agent could not leave in time.

    The block is on the column `ahead` after `delay + ahead` steps; an agent needs `out` steps to leave its rows.
    """
    grid, ground = team.grid, team.ground
    top, left, weight = team.blocks[block, ROW], team.blocks[block, COL], team.blocks[block, WEIGHT]
    reach = min(_clear_columns(team, j, block), len(grid) - left - weight)
    for row in range(top, top + weight):
        out = min(row - top + 1, top + weight - row)
        for col in range(left + weight, left + weight + reach):
            if grid[row, col] < 0:
                break
            if delay + col - left - weight <= out:
                ground[row, col] = BOW
            elif ground[row, col] == OPEN:
                ground[row, col] = LANE


@compiled
def _push(team: Team) -> None:
    """Let the teams that push go on, unless somebody stands before their blocks or these may not advance."""
    moving = np.empty(len(team.blocks), dtype=np.int64)
    for j in range(len(team.order)):
        if team.phase[j] != PUSHING:
            continue
        action = RIGHT if _way_is_clear(team, j, moving) else STAY
        for i in range(len(team.agents)):
            if team.members[j, i]:
                team.actions[i] = action
                team.decided[i] = True


@compiled
def _way_is_clear(team: Team, j: int, moving: Integers) -> bool:
    grid = team.grid
    for k in range(_chain(team, j, moving)):
        block = moving[k]
        if not may_advance(team, j, block):
            return False
        top, col = team.blocks[block, ROW], team.blocks[block, COL] + team.blocks[block, WEIGHT]
        for row in range(top, top + team.blocks[block, WEIGHT]):
            if grid[row, col] > 0 or (grid[row, col] < 0 and team.carrier[-grid[row, col] - 1] != j):
                return False
    return True

# ruff: noqa: PLR0917 (kernels take their arrays as arguments: Numba has no cheap structs)
"""The cooperation constraints of every task of a board (EmCoop, cooperative constraints, instance CUBE).

A task is to push a block on the board away from one of its faces. Under a joint action, a task has these numbers:

- threshold p: the force that moves the block, the sum of its weight and of the weights of the whole chain in front;
- spatial: agents aligned with the face, on a face cell or in a gap-free line of agents behind one;
- temporal: agents whose primitive is the push direction and who are aligned or whose symbolic push names the block;
- participation: agents whose live plan works at that face, plus those of temporal; every agent is capable;
- joint: agents that are aligned and whose primitive is the push direction;
- dependency: only force is missing; no wall and no agent is in front of the chain.

EmCoop's literal formula differs and is reported as well. There p is the weight of the block alone, spatial counts the
agents at most one cell (Manhattan) from a face cell, and there is no dependency, so p agents are always enough. With
chains of blocks, this formula marks impossible pushes as possible. Face cells are those on the board and not in a
block.

The four tasks of a delivered block are over: each is reported once more with threshold 0, all counts 0 and no
dependency.
"""

from __future__ import annotations

import numpy as np

from cube_env.arrays import ALIVE, BLOCK_CHAIN_OF, BLOCK_COLUMNS, WEIGHT, ActionArray, IntArray
from cube_env.constants import PushOutcome
from cube_env.jit import compiled
from cube_env.kernel import close_chain, displacement, edge, opposite

NUMBERS = 7
THRESHOLD, SPATIAL, TEMPORAL, PARTICIPATION, JOINT, DEPENDENCY, NEAR = range(NUMBERS)

DIRECTIONS = 4
"""The row of a task is `DIRECTIONS * block + direction - 1`, by push direction."""

_MOVED = int(PushOutcome.moved)


@compiled
def task_changes(
    grid: IntArray, blocks: IntArray, joint: ActionArray, pushing: IntArray, served: IntArray, numbers: IntArray
) -> IntArray:
    """Update the numbers of all tasks.

    Args:
        grid: (K, K) grid codes of `cube_env.arrays`.
        blocks: (B, 4) of `cube_env.arrays`.
        joint: (n,) primitives.
        pushing: (n,) blocks named in symbolic pushes; -1 for none.
        served: (n,) rows of the tasks that live plans serve; -1 for none.
        numbers: (4 B, NUMBERS) for each task; written here.

    Returns:
        The rows that have changed.
    """
    # Recount everything and compare. A step changes few tasks, but the actions alone do not show which, because a chain
    # can reach far.
    now = np.zeros((numbers.shape[0], NUMBERS), dtype=np.int32)
    # The block with which each agent is aligned along its primitive.
    aligned_with = np.full(joint.shape[0], -1, dtype=np.int32)
    report = np.zeros((blocks.shape[0], BLOCK_COLUMNS), dtype=np.int32)
    report[:, BLOCK_CHAIN_OF] = -1
    for task in range(now.shape[0]):
        block, direction = task // DIRECTIONS, task % DIRECTIONS + 1
        if blocks[block, ALIVE]:
            _count_lines(grid, blocks, joint, block, direction, now[task], aligned_with)
            _count_near(grid, blocks, block, direction, now[task])
            _, now[task, THRESHOLD], outcome = close_chain(grid, blocks, report, block, direction, task)
            now[task, DEPENDENCY] = outcome == _MOVED
    for i in range(joint.shape[0]):
        block = pushing[i]
        if block >= 0 and blocks[block, ALIVE] and joint[i] > 0 and aligned_with[i] != block:
            now[DIRECTIONS * block + joint[i] - 1, TEMPORAL] += 1
        task = served[i]
        if task >= 0 and blocks[task // DIRECTIONS, ALIVE]:
            acts = joint[i] == task % DIRECTIONS + 1 and task // DIRECTIONS in (block, aligned_with[i])
            now[task, PARTICIPATION] += not acts
    now[:, PARTICIPATION] += now[:, TEMPORAL]
    changed = np.empty(now.shape[0], dtype=np.int32)
    found = 0
    for task in range(now.shape[0]):
        is_new = False
        for k in range(NUMBERS):
            if numbers[task, k] != now[task, k]:
                numbers[task, k] = now[task, k]
                is_new = True
        if is_new:
            changed[found] = task
            found += 1
    return changed[:found]


@compiled
def _count_lines(
    grid: IntArray,
    blocks: IntArray,
    joint: ActionArray,
    block: int,
    direction: int,
    now: IntArray,
    aligned_with: IntArray,
) -> None:
    """Count the agents in the lines behind a block in a direction, and those among them who act in it."""
    side = grid.shape[0]
    row, col, along_row, along_col = edge(blocks, block, opposite(direction))
    row_step, col_step = displacement(direction)
    for _ in range(blocks[block, WEIGHT]):
        r, c = row, col
        while 0 <= r < side and 0 <= c < side and grid[r, c] > 0:
            agent = grid[r, c] - 1
            now[SPATIAL] += 1
            if joint[agent] == direction:
                now[JOINT] += 1
                now[TEMPORAL] += 1
                aligned_with[agent] = block
            r -= row_step
            c -= col_step
        row += along_row
        col += along_col


@compiled
def _count_near(grid: IntArray, blocks: IntArray, block: int, direction: int, now: IntArray) -> None:
    """Count the agents at most one cell away from a face cell behind a block in a direction."""
    side = grid.shape[0]
    width = blocks[block, WEIGHT]
    row, col, along_row, along_col = edge(blocks, block, opposite(direction))
    row_step, col_step = displacement(direction)
    # The cells next to the line of face cells and the line behind it: all cells one step from a face cell.
    for k in range(-1, width + 1):
        for behind in range(2):
            r, c = row + k * along_row - behind * row_step, col + k * along_col - behind * col_step
            if not (0 <= r < side and 0 <= c < side) or grid[r, c] <= 0:
                continue
            for j in range(max(k - 1 + behind, 0), min(k + 2 - behind, width)):
                face_row, face_col = row + j * along_row, col + j * along_col
                if 0 <= face_row < side and 0 <= face_col < side and grid[face_row, face_col] >= 0:
                    now[NEAR] += 1
                    break

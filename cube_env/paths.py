# ruff: noqa: PLR0917 (kernels take their arrays as arguments: Numba has no cheap structs)
"""Path search and alignment as kernels over the grid of one world.

Grid codes are those of `cube_env.arrays`: 0 free, `i + 1` agent i, `-(b + 1)` block b. Neighbours are always taken in
the order up, down, left, right, so paths are determined.
"""

from __future__ import annotations

from cube_env.arrays import IntArray
from cube_env.constants import Action
from cube_env.jit import compiled

UNREACHED = -1

FREE_CELLS, LINE_ENDS, TAKEN_CELLS = range(3)

UP, DOWN, LEFT, RIGHT = (int(action) for action in Action if action is not Action.STAY)


@compiled
def place_in_line(grid: IntArray, agents: IntArray, agent: int, block: int, row_step: int, col_step: int) -> int:
    """Find the place of an agent in the gap-free line of agents at a face of a block.

    Args:
        grid: (K, K) grid codes.
        agents: (n, 2) cells.
        agent: index of the agent.
        block: id of the block.
        row_step: rows of one step towards the block from the face in question.
        col_step: columns of that step.

    Returns:
        0 on a face cell, k with k agents before it, -1 when it is not aligned with the block.
    """
    side = grid.shape[0]
    row, col = agents[agent, 0] + row_step, agents[agent, 1] + col_step
    place = 0
    while 0 <= row < side and 0 <= col < side and grid[row, col] > 0:
        row += row_step
        col += col_step
        place += 1
    if 0 <= row < side and 0 <= col < side and grid[row, col] == -(block + 1):
        return place
    return -1


@compiled
def way_on(grid: IntArray, agents: IntArray, agent: int, block: int, row_step: int, col_step: int, last: int) -> int:
    """Find the step by which an agent on a face cell should go on along the face, not to shut others out.

    A face cell with a wall or a block behind it can be reached along the face alone. So an agent goes on while the next
    face cell is free and it or the agent's own is such a cell, and never back to where it came from.

    Args:
        grid: (K, K) grid codes.
        agents: (n, 2) cells.
        agent: index of the agent; it is on a face cell.
        block: id of the block.
        row_step: rows of one step towards the block from the face.
        col_step: columns of that step.
        last: the primitive by which the agent came.

    Returns:
        The action, or STAY (0) when the agent may stop here.
    """
    side = grid.shape[0]
    row, col = agents[agent, 0], agents[agent, 1]
    shut = _is_shut(grid, row - row_step, col - col_step)
    for action in (UP, DOWN, LEFT, RIGHT):
        along_row, along_col = (action == DOWN) - (action == UP), (action == RIGHT) - (action == LEFT)
        came_row, came_col = (last == DOWN) - (last == UP), (last == RIGHT) - (last == LEFT)
        if along_row * row_step + along_col * col_step != 0 or (along_row == -came_row and along_col == -came_col):
            continue
        r, c = row + along_row, col + along_col
        if not (0 <= r < side and 0 <= c < side) or grid[r, c] != 0:
            continue
        if grid[r + row_step, c + col_step] == -(block + 1) and (shut or _is_shut(grid, r - row_step, c - col_step)):
            return action
    return 0


@compiled
def _is_shut(grid: IntArray, row: int, col: int) -> bool:
    side = grid.shape[0]
    return not (0 <= row < side and 0 <= col < side) or bool(grid[row, col] < 0)


@compiled
def staging_targets(
    grid: IntArray, top: int, left: int, weight: int, row_step: int, col_step: int, targets: IntArray
) -> tuple[int, bool]:
    """Find where an agent that goes to a face should go.

    To its free cells; when it is full, to the ends of its shortest agent lines; when these end at walls and blocks, as
    near as it can come to the agents that stand there.

    Args:
        grid: (K, K) grid codes.
        top: row of the block's top-left cell.
        left: column of the block's top-left cell.
        weight: side of the block.
        row_step: rows of one step towards the block from the face.
        col_step: columns of that step.
        targets: (K, 2) the cells found, written here.

    Returns:
        The number of cells found, and whether the face is full; 0 of them when the face has no staging cell at all
        (walls and blocks all along).
    """
    side = grid.shape[0]
    found = 0
    shortest = side
    for attempt in (FREE_CELLS, LINE_ENDS, TAKEN_CELLS):
        for k in range(weight):
            row = top - 1 if row_step > 0 else top + weight if row_step < 0 else top + k
            col = left - 1 if col_step > 0 else left + weight if col_step < 0 else left + k
            if _is_shut(grid, row, col):
                continue
            if grid[row, col] == 0 or attempt == TAKEN_CELLS:
                targets[found, 0], targets[found, 1] = row, col
                found += 1
                continue
            length = 0
            while not _is_shut(grid, row, col) and grid[row, col] > 0:
                row -= row_step
                col -= col_step
                length += 1
            if _is_shut(grid, row, col):
                continue
            if attempt == FREE_CELLS:
                shortest = min(shortest, length)
            elif length == shortest:
                targets[found, 0], targets[found, 1] = row, col
                found += 1
        if found > 0:
            return found, attempt != FREE_CELLS
    return 0, False


@compiled
def distance_field(
    grid: IntArray,
    targets: IntArray,
    seekers: IntArray,
    through_agents: bool,
    field: IntArray,
    queue: IntArray,
) -> int:
    """Measure the shortest ways to the nearest of some targets, breadth first from the targets.

    Blocks are walls; agents are walls too unless `through_agents`. The cell of a seeker always gets its distance, and
    the search stops when every seeker has one.

    Args:
        grid: (K, K) grid codes.
        targets: (m, 2) cells to reach.
        seekers: (n,) 1 for each agent that asks.
        through_agents: whether ways may lead over agents.
        field: (K, K) distances in steps, `UNREACHED` where the search did not come; written here.
        queue: (K * K,) scratch.

    Returns:
        The number of seekers that cannot reach a target.
    """
    side = grid.shape[0]
    field[:] = UNREACHED
    head = tail = 0
    for k in range(targets.shape[0]):
        row, col = targets[k, 0], targets[k, 1]
        if field[row, col] == UNREACHED:
            field[row, col] = 0
            queue[tail] = row * side + col
            tail += 1
    remaining = 0
    for i in range(seekers.shape[0]):
        remaining += seekers[i]
    while head < tail and remaining > 0:
        cell = queue[head]
        head += 1
        row, col = cell // side, cell % side
        distance = field[row, col] + 1
        for k in range(4):
            r = row - 1 if k == 0 else row + 1 if k == 1 else row
            c = col - 1 if k == 2 else col + 1 if k == 3 else col
            if not (0 <= r < side and 0 <= c < side) or field[r, c] != UNREACHED:
                continue
            code = grid[r, c]
            if code < 0:
                continue
            if code > 0:
                if seekers[code - 1] > 0:
                    remaining -= 1
                elif not through_agents:
                    continue
                field[r, c] = distance
                if not through_agents:
                    continue
            else:
                field[r, c] = distance
            queue[tail] = r * side + c
            tail += 1
    return remaining


@compiled
def next_step(grid: IntArray, field: IntArray, row: int, col: int) -> int:
    """Choose the primitive that follows a field downhill from a cell.

    Returns:
        The action; STAY (0) when the next cell is taken or the cell is at its target; -1 when the field does not reach
        the cell.
    """
    side = grid.shape[0]
    here = field[row, col]
    if here == UNREACHED:
        return -1
    for k in range(4):
        r = row - 1 if k == 0 else row + 1 if k == 1 else row
        c = col - 1 if k == 2 else col + 1 if k == 3 else col
        if 0 <= r < side and 0 <= c < side and field[r, c] == here - 1 and grid[r, c] == 0:
            return k + 1
    return 0

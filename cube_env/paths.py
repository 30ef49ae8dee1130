# ruff: noqa: PLR0917 (kernels take their arrays as arguments: Numba has no cheap structs)
"""Path search and alignment as kernels over the grid of one world.

Grid codes are those of `cube_env.arrays`: 0 free, `i + 1` agent i, `-(b + 1)` block b. Neighbours are always visited in
    the order up, down, left, right, so paths are deterministic.
"""

from __future__ import annotations

import numpy as np

from cube_env.arrays import IntArray
from cube_env.constants import Action
from cube_env.jit import compiled
from cube_env.kernel import displacement

UNREACHED, WALL, SEEKER = -1, -2, -3
"""Field values that are not distances: not searched, unreachable, or the cell of a seeker."""

FREE_CELLS, LINE_ENDS, TAKEN_CELLS = range(3)

UP, DOWN, LEFT, RIGHT = (int(action) for action in Action if action is not Action.STAY)


@compiled
def place_in_line(grid: IntArray, agents: IntArray, agent: int, block: int, row_step: int, col_step: int) -> int:
    """Return an agent's position in the gap-free line of agents at a face of a block.

    Args:
        grid: (K, K) grid codes.
        agents: (n, 2) cells.
        agent: index of the agent.
        block: id of the block.
        row_step: rows of one step towards the block from the face.
        col_step: columns of that step.

    Returns:
        0 on a face cell, k with k agents before it, -1 if it is not aligned with the block.
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
def places_in_line(grid: IntArray, agents: IntArray, aims: IntArray) -> IntArray:
    """Return the positions (n,) of all agents in the lines at the faces they aim at, as `place_in_line` does.

    Args:
        grid: (K, K) grid codes.
        agents: (n, 2) cells.
        aims: (n, 3) block, and row and column step towards it; block -1: the agent has no aim, and its position is -1.
    """
    places = np.full(agents.shape[0], -1, dtype=np.int32)
    for i in range(agents.shape[0]):
        block, row_step, col_step = aims[i, 0], aims[i, 1], aims[i, 2]
        if block >= 0:
            places[i] = place_in_line(grid, agents, i, block, row_step, col_step)
    return places


@compiled
def way_on(grid: IntArray, agents: IntArray, agent: int, block: int, row_step: int, col_step: int, last: int) -> int:
    """Return the next step along the face for an agent on a face cell that would shut others out.

    A face cell with a wall or a block behind it can be reached only along the face. So an agent moves on while the next
    face cell is free and either that cell or its own is such a cell. It never turns back.

    Args:
        grid: (K, K) grid codes.
        agents: (n, 2) cells.
        agent: index of the agent, which is on a face cell.
        block: id of the block.
        row_step: rows of one step towards the block from the face.
        col_step: columns of that step.
        last: the primitive by which the agent arrived.

    Returns:
        The action, or STAY (0) if the agent may stop here.
    """
    side = grid.shape[0]
    row, col = agents[agent, 0], agents[agent, 1]
    # Cells behind the face: an agent that stops in front of a blocked one keeps others from reaching it.
    shut = _is_shut(grid, row - row_step, col - col_step)
    for action in (UP, DOWN, LEFT, RIGHT):
        (along_row, along_col), (came_row, came_col) = displacement(action), displacement(last)
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
    grid: IntArray, top: int, left: int, weight: int, row_step: int, col_step: int
) -> tuple[IntArray, bool]:
    """Find the target cells of an agent that goes to a face.

    These are the free cells of the face. If it is full: the ends of its shortest agent lines. If those end at walls and
    blocks: the occupied face cells, to get as near as possible.

    Args:
        grid: (K, K) grid codes.
        top: row of the block's top-left cell.
        left: column of the block's top-left cell.
        weight: side of the block.
        row_step: rows of one step towards the block from the face.
        col_step: columns of that step.

    Returns:
        The cells found, (m, 2), and whether the face is full. There are none if the face has no staging cell (walls and
        blocks all along).
    """
    targets = np.empty((weight, 2), dtype=np.int32)
    found = 0
    shortest = grid.shape[0]
    # From best to worst: each fallback runs only if the one before found nothing.
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
            return targets[:found], attempt != FREE_CELLS
    return targets[:0], False


@compiled
def measure_ways(grid: IntArray, agents: IntArray, targets: IntArray, seekers: IntArray) -> tuple[IntArray, IntArray]:
    """Find the next step of every seeker on a shortest path to the nearest target.

    Agents count as walls; a seeker enclosed by agents gets a path through them.

    Args:
        grid: (K, K) grid codes.
        agents: (n, 2) cells.
        targets: (m, 2) cells to reach.
        seekers: (n,) 1 for each agent that needs a path.

    Returns:
        Two arrays (n,): the primitive of each seeker, STAY (0) at a target or before an occupied cell, -1 if blocks and
        walls leave no path; and 1 for a seeker without a path around agents, blocks and walls.
    """
    steps, cut_off = np.zeros(agents.shape[0], dtype=np.int32), np.zeros(agents.shape[0], dtype=np.int32)
    # One search serves all seekers of a face. The second search, through agents, is expensive and rare: only for
    # seekers that agents enclose.
    field, missing = _distances(grid, agents, targets, seekers, False)
    for i in range(agents.shape[0]):
        if seekers[i]:
            steps[i] = _next_step(grid, field, agents[i, 0], agents[i, 1])
            cut_off[i] = steps[i] == UNREACHED
    if missing:
        field, _ = _distances(grid, agents, targets, seekers, True)
        for i in range(agents.shape[0]):
            if seekers[i] and cut_off[i]:
                steps[i] = _next_step(grid, field, agents[i, 0], agents[i, 1])
    return steps, cut_off


@compiled
def find_way(grid: IntArray, agents: IntArray, agent: int, targets: IntArray) -> IntArray:
    """Find the cells on an agent's path if it follows `measure_ways` and no other agent moves.

    Args:
        grid: (K, K) grid codes.
        agents: (n, 2) cells.
        agent: index of the agent.
        targets: (m, 2) cells to reach.

    Returns:
        The cells in order, (k, 2), without the agent's own; they lead through other agents if there is no path around
        them.
    """
    seekers = np.zeros(agents.shape[0], dtype=np.int32)
    seekers[agent] = 1
    field, missing = _distances(grid, agents, targets, seekers, False)
    if missing:
        field, _ = _distances(grid, agents, targets, seekers, True)
    width = grid.shape[0] + 2
    cell = (agents[agent, 0] + 1) * width + agents[agent, 1] + 1
    left = max(int(field[cell]), 0)
    cells = np.empty((left, 2), dtype=np.int32)
    for k in range(left):
        down = 0
        for offset in (-width, width, -1, 1):
            there = cell + offset
            if field[there] != left - 1 - k:
                continue
            free = grid[there // width - 1, there % width - 1] == 0
            if down == 0 or free:
                down = offset
            if free:
                break
        cell += down
        cells[k, 0], cells[k, 1] = cell // width - 1, cell % width - 1
    return cells


@compiled
def _distances(
    grid: IntArray, agents: IntArray, targets: IntArray, seekers: IntArray, through_agents: bool
) -> tuple[IntArray, int]:
    """Measure the distances of cells to the nearest target, breadth first from the targets.

    Blocks are walls; agents are walls too unless `through_agents`. A seeker's own cell always gets its distance, and
    the search stops when every seeker has one. A frame of walls around the field makes edge tests unnecessary.

    Args:
        grid: (K, K) grid codes.
        agents: (n, 2) cells.
        targets: (m, 2) cells to reach.
        seekers: (n,) 1 for each agent that needs a path.
        through_agents: whether paths may lead through agents.

    Returns:
        The distances in steps, ((K + 2) * (K + 2),), negative where the search did not reach; and the number of seekers
        that cannot reach a target.
    """
    side = grid.shape[0]
    width = side + 2
    field = np.empty(width * width, dtype=np.int32)
    queue = np.empty(side * side, dtype=np.int32)
    # A frame of walls, so the search needs no edge tests.
    field[:width] = WALL
    field[-width:] = WALL
    for row in range(side):
        first = (row + 1) * width
        field[first] = field[first + width - 1] = WALL
        for col in range(side):
            code = grid[row, col]
            field[first + col + 1] = UNREACHED if code == 0 or (code > 0 and through_agents) else WALL
    missing = 0
    for i in range(agents.shape[0]):
        if seekers[i]:
            field[(agents[i, 0] + 1) * width + agents[i, 1] + 1] = SEEKER
            missing += 1
    head = tail = 0
    for k in range(targets.shape[0]):
        cell = (targets[k, 0] + 1) * width + targets[k, 1] + 1
        if field[cell] != 0:
            missing -= field[cell] == SEEKER
            field[cell] = 0
            queue[tail] = cell
            tail += 1
    # Stop at the last seeker, usually long before the whole board is searched.
    while head < tail and missing > 0:
        cell = queue[head]
        head += 1
        distance = field[cell] + 1
        for offset in (-width, width, -1, 1):
            there = field[cell + offset]
            if there < 0 and there != WALL:
                field[cell + offset] = distance
                missing -= there == SEEKER
                if there == UNREACHED or through_agents:
                    queue[tail] = cell + offset
                    tail += 1
    return field, missing


@compiled
def _next_step(grid: IntArray, field: IntArray, row: int, col: int) -> int:
    """Return the primitive that leads downhill in the distance field from a cell.

    Returns:
        The action; STAY (0) if the next cell is occupied or the cell is a target; -1 if the field does not reach the
        cell.
    """
    width = grid.shape[0] + 2
    cell = (row + 1) * width + col + 1
    here = field[cell]
    if here < 0:
        return UNREACHED
    if here == 0:
        return 0
    # In the order of the actions (up, down, left, right), so that ties are always broken the same way.
    for action in (UP, DOWN, LEFT, RIGHT):
        down, right = displacement(action)
        if field[cell + down * width + right] == here - 1 and grid[row + down, col + right] == 0:
            return action
    return 0

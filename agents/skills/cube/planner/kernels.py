"""The kernels of the planner, and the arrays that they read and write: one step of a team at work on a board.

- Tasks: who gathers where, which team pushes, and what its block will sweep. A block that advances leaves room for the
  team of any block ahead that still waits for one: it never closes a face that is still needed. In front of a moving
  block lies its lane, which it will sweep, and in the lane its bow: the cells that an agent could not leave in time.
- Ways: how far each walking agent is from its target, and whose turn it is.
- Walking: who goes where, and who makes way. Each step is decided for all agents at once, in the order of a priority,
  after Okumura et al., "Priority Inheritance with Backtracking for Iterative Multi-agent Path Finding" (IJCAI 2019;
  Artificial Intelligence 310, 2022): an agent that is in the way of one before it in the order inherits its priority
  and steps aside. In CUBE nobody enters a cell that is left in the same step, so what is passed on is not a move but a
  hole: the agent nearest to a free cell steps into it, and the rest follows step by step. Two mates in each other's way
  exchange their targets instead, as in TSWAP (Okumura and Defago, "Solving Simultaneous Target Assignment and Path
  Planning Efficiently with Time-Independent Execution", ICAPS 2022).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from maeil.compilation import KernelSet

Integers = npt.NDArray[np.signedinteger[Any]]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]

KERNELS = KernelSet("cube_planner", sorted(Path(__file__).parent.glob("*.py")))
compiled = KERNELS.compiled


ROW, COL, WEIGHT, ALIVE = range(4)
"""Columns of a table of blocks: its top-left cell, its weight, and 1 while it is there."""

STAY, UP, DOWN, LEFT, RIGHT = range(5)
"""Primitive actions."""

GATHERING, PUSHING, DONE = range(3)
"""Phases of a task."""

OPEN, LANE, STANDING, BOW, WALL = range(5)
"""Kinds of ground for those who walk. A lane is what a moving block will sweep; nobody without a task stays there. Its
bow is the part that nobody could leave in time: a wall for those outside, to be left at once by those inside. A cell
where an agent stands on its target or pushes is gone through only when there is no other way."""

UNREACHED = -1

CLEARANCE = 2
"""Free columns that a block keeps from the team of another ahead of it that is not yet pushed."""


class Team(NamedTuple):
    """The arrays that one step reads and writes; n agents, B blocks, J tasks, a grid of side K."""

    agents: Integers
    """(n, 2): row, col."""
    blocks: Integers
    """(B, 4): row and col of the top-left cell, weight, 1 while it is there."""
    grid: Integers
    """(K, K): occupancy."""
    order: Integers
    """(J,): the block of each task, by rank."""
    members: Flags
    """(J, n): who works on it."""
    carrier: Integers
    """(B,): rank of the task that delivers a block: its own, or one that pushes it on; -1 without any."""
    phase: Integers
    """(J,): `GATHERING`, `PUSHING` or `DONE`."""
    current: Integers
    """(n,): rank of the task that an agent is in; J without any."""
    target: Integers
    """(n, 2): the staging cell that an agent goes to or stands on, -1 without any."""
    ground: Integers
    """(K, K): `OPEN`, `LANE`, `STANDING` (an agent that stays), `BOW` or `WALL`."""
    field: Integers
    """(n, K, K): distance to an agent's target, or for one in a bow to the way out of it; `UNREACHED` elsewhere."""
    claimed: Flags
    """(K, K): cells that somebody enters in this step."""
    settled: Flags
    """(n,): stands on its target."""
    waited: Integers
    """(n,): steps since an agent last stood on its target, or since its task began."""
    decided: Flags
    """(n,): has its action."""
    queue: Integers
    """(K * K,): scratch of searches."""
    seen: Flags
    """(K, K): scratch of searches."""
    actions: Integers
    """(n,): the joint action."""


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
    if _clear_columns(team, j, team.order[j]) > 0:
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
def _clear_columns(team: Team, j: int, block: int) -> int:
    """Columns by which a block may advance before it comes too near to one that waits for its own team."""
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
        if _clear_columns(team, j, block) <= 0:
            return False
        top, col = team.blocks[block, ROW], team.blocks[block, COL] + team.blocks[block, WEIGHT]
        for row in range(top, top + team.blocks[block, WEIGHT]):
            if grid[row, col] > 0 or (grid[row, col] < 0 and team.carrier[-grid[row, col] - 1] != j):
                return False
    return True


@compiled
def measure_ways(team: Team) -> Integers:
    """Measure the ways of all agents that walk, and let mates exchange targets where that is shorter.

    Returns:
        The agents in the order in which they choose: those before a moving block; then by the rank of their task, those
        first who have walked longest without standing at its block (Okumura et al.), and of these the nearest.
    """
    far = team.grid.size
    priority = np.empty(len(team.agents), dtype=np.int64)
    for i in range(len(team.agents)):
        row, col = team.agents[i, 0], team.agents[i, 1]
        field, ground = team.field[i], team.ground[row, col]
        idle = team.current[i] == len(team.order)
        team.settled[i] = row == team.target[i, 0] and col == team.target[i, 1]
        team.waited[i] = 0 if team.settled[i] else min(team.waited[i] + 1, far - 1)
        if ground == BOW or (ground == LANE and idle):
            _measure_way_out(team, i)
        elif not (idle or team.settled[i] or team.decided[i]) and team.target[i, 0] >= 0:
            _measure(team, i)
        else:
            field[row, col] = 0
        rank = 2 * team.current[i] + team.settled[i]
        priority[i] = (rank * far - team.waited[i]) * far + max(field[row, col], 0)
        if ground == BOW:
            priority[i] -= (2 * len(team.order) + 1) * far * far
    _exchange_targets(team)
    return np.argsort(priority, kind="mergesort")


@compiled
def _measure(team: Team, i: int) -> None:
    """Measure the ways to an agent's target round all that stands; through it when there is no other way."""
    goal_row, goal_col = team.target[i, 0], team.target[i, 1]
    for through in (False, True):
        field = team.field[i]
        field[:] = UNREACHED
        field[goal_row, goal_col] = 0
        team.queue[0] = goal_row * len(field) + goal_col
        if _flood(team, field, 1, BOW if through else LANE, i):
            return


@compiled
def _measure_way_out(team: Team, i: int) -> None:
    """Measure the ways out of the bow in which an agent stands."""
    field, ground = team.field[i], team.ground
    side = len(field)
    tail = 0
    for row in range(side):
        for col in range(side):
            field[row, col] = UNREACHED
            if ground[row, col] in (OPEN, STANDING):
                field[row, col] = 0
                team.queue[tail] = row * side + col
                tail += 1
    _flood(team, field, tail, BOW, i)


@compiled
def _flood(team: Team, field: Integers, tail: int, passable: int, i: int) -> bool:
    """Search breadth first from the cells in the queue over ground up to `passable`; a little beyond the agent's mates.

    Standing agents that may not be passed are reached, but nothing behind them.

    Returns:
        Whether the agent itself was reached.
    """
    grid, ground, side = team.grid, team.ground, len(field)
    j = team.current[i]
    missing = 0
    for other in range(len(team.agents)):
        missing += team.current[other] == j and field[team.agents[other, 0], team.agents[other, 1]] == UNREACHED
    head, limit = 0, side * side
    while head < tail:
        row, col = team.queue[head] // side, team.queue[head] % side
        head += 1
        distance = field[row, col] + 1
        if distance > limit:
            break
        if ground[row, col] > passable and distance > 1:
            continue
        for k in range(4):
            r = row - 1 if k == 0 else row + 1 if k == 1 else row
            c = col - 1 if k == 2 else col + 1 if k == 3 else col
            if not (0 <= r < side and 0 <= c < side) or field[r, c] != UNREACHED:
                continue
            if ground[r, c] == WALL or (ground[r, c] == BOW and passable < BOW):
                continue
            field[r, c] = distance
            team.queue[tail] = r * side + c
            tail += 1
            if grid[r, c] > 0 and team.current[grid[r, c] - 1] == j:
                missing -= 1
                if missing == 0:
                    limit = distance + 2
    return bool(field[team.agents[i, 0], team.agents[i, 1]] != UNREACHED)


@compiled
def _exchange_targets(team: Team) -> None:
    """Let two mates on their way exchange targets when that makes the sum of the squares of their ways smaller."""
    n, tasks = len(team.agents), len(team.order)
    for i in range(n):
        if team.current[i] == tasks or not _walks(team, i):
            continue
        for other in range(i + 1, n):
            if team.current[other] != team.current[i] or not _walks(team, other):
                continue
            own_field, other_field = team.field[i], team.field[other]
            here, there = team.agents[i], team.agents[other]
            a, b = own_field[here[0], here[1]], other_field[there[0], there[1]]
            c, d = own_field[there[0], there[1]], other_field[here[0], here[1]]
            if min(a, b, c, d) >= 0 and c * c + d * d < a * a + b * b:
                for k in range(2):
                    kept = team.target[i, k]
                    team.target[i, k] = team.target[other, k]
                    team.target[other, k] = kept
                scratch = own_field.copy()
                own_field[:] = other_field
                other_field[:] = scratch


@compiled
def _walks(team: Team, i: int) -> bool:
    on_bow = team.ground[team.agents[i, 0], team.agents[i, 1]] == BOW
    return not team.settled[i] and not team.decided[i] and team.target[i, 0] >= 0 and not on_bow


@compiled
def move(team: Team, order: Integers) -> None:
    """Decide the actions of all agents that do not push.

    Args:
        team: its arrays, with the ways measured.
        order: (n,) the agents, most urgent first.
    """
    for i in order:
        if not team.decided[i]:
            _step(team, i)


@compiled
def _step(team: Team, i: int) -> None:
    """Decide the action of one agent: towards its target if a cell is free; else see that the way is made free."""
    team.decided[i] = True
    action, taken = _nearer_cell(team, i)
    if action != STAY:
        _go(team, i, action)
        return
    if taken == STAY:
        return
    row, col = _neighbour(team.agents[i, 0], team.agents[i, 1], taken)
    other = team.grid[row, col] - 1
    if team.decided[other]:
        return
    if team.settled[other] and team.current[other] == team.current[i]:
        team.target[other] = team.target[i]
        team.target[i, 0], team.target[i, 1] = row, col
        team.field[other] = team.field[i]
        team.settled[other] = False
        return
    _make_hole(team, row, col, taken)


@compiled
def _nearer_cell(team: Team, i: int) -> tuple[int, int]:
    """Find a free neighbour cell that brings an agent nearer, and one on which another stands.

    Returns:
        The two actions that lead there, STAY for none.
    """
    grid, ground, field = team.grid, team.ground, team.field[i]
    row, col = team.agents[i, 0], team.agents[i, 1]
    here = field[row, col]
    free = taken = STAY
    for action in (UP, DOWN, LEFT, RIGHT):
        r, c = _neighbour(row, col, action)
        if not (0 <= r < len(grid) and 0 <= c < len(grid)) or grid[r, c] < 0 or team.claimed[r, c]:
            continue
        if ground[r, c] == BOW and ground[row, col] != BOW:
            continue
        if field[r, c] == UNREACHED or field[r, c] >= here:
            continue
        if grid[r, c] == 0:
            if free == STAY:
                free = action
        elif taken == STAY:
            taken = action
    return free, taken


@compiled
def _make_hole(team: Team, row: int, col: int, direction: int) -> None:
    """Let the agent on a cell, or one behind it, step into the nearest free cell, to the sides first."""
    grid, ground, seen, side = team.grid, team.ground, team.seen, len(team.grid)
    sides = (UP, DOWN, RIGHT, LEFT) if direction in (LEFT, RIGHT) else (LEFT, RIGHT, DOWN, UP)
    seen[:] = False
    seen[row, col] = True
    team.queue[0] = row * side + col
    head, tail = 0, 1
    from_bow = ground[row, col] == BOW
    while head < tail:
        r, c = team.queue[head] // side, team.queue[head] % side
        head += 1
        mover = grid[r, c] - 1
        own_way, _ = _nearer_cell(team, mover)
        if own_way != STAY:
            team.decided[mover] = True
            _go(team, mover, own_way)
            return
        for action in sides:
            to_row, to_col = _neighbour(r, c, action)
            if not (0 <= to_row < side and 0 <= to_col < side) or seen[to_row, to_col]:
                continue
            if grid[to_row, to_col] < 0 or team.claimed[to_row, to_col]:
                continue
            if ground[to_row, to_col] == BOW and not from_bow:
                continue
            if grid[to_row, to_col] == 0:
                team.decided[mover] = True
                _go(team, mover, action)
                return
            if not team.decided[grid[to_row, to_col] - 1]:
                seen[to_row, to_col] = True
                team.queue[tail] = to_row * side + to_col
                tail += 1


@compiled
def _go(team: Team, i: int, action: int) -> None:
    team.actions[i] = action
    row, col = _neighbour(team.agents[i, 0], team.agents[i, 1], action)
    team.claimed[row, col] = True


@compiled
def _neighbour(row: int, col: int, action: int) -> tuple[int, int]:
    if action == UP:
        return row - 1, col
    if action == DOWN:
        return row + 1, col
    if action == LEFT:
        return row, col - 1
    return row, col + 1

"""Kernels for the walking of a step: where agents go, and which agents make way.

Each step is decided for all agents at once, in order of priority, after Okumura et al., "Priority Inheritance with
Backtracking for Iterative Multi-agent Path Finding" (IJCAI 2019; Artificial Intelligence 310, 2022): an agent in the
way of one with higher priority inherits its priority and steps aside. In CUBE no agent enters a cell that is left in
the same step, so agents pass on a hole rather than a move: the agent nearest to a free cell steps into it, and the rest
follow step by step. Two mates in each other's way exchange their targets instead, as in TSWAP (Okumura and Defago,
"Solving Simultaneous Target Assignment and Path Planning Efficiently with Time-Independent Execution", ICAPS 2022).
"""

from __future__ import annotations

from quorum.agents.skills.cube.planner.arrays import BOW, DOWN, LEFT, RIGHT, STAY, UNREACHED, UP, Integers, Team
from quorum.agents.skills.cube.planner.jit import compiled


@compiled
def move(team: Team, order: Integers) -> None:
    """Decide the actions of all agents that do not push.

    Args:
        team: its arrays, with distances measured.
        order: (n,) the agents, most urgent first.
    """
    for i in order:
        if not team.decided[i]:
            _step(team, i)


@compiled
def _step(team: Team, i: int) -> None:
    """Decide an agent's action: step towards its target if a cell is free; else have the way cleared."""
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
    """Find a free neighbouring cell that brings an agent nearer, and one with another agent on it.

    Returns:
        The two actions that lead there; STAY for none.
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
    """Let the agent on a cell, or one behind it, step into the nearest free cell, sideways first."""
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

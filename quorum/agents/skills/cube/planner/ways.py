"""Kernels for the ways of a step: each walking agent's distance from its target, and the order of the agents."""

from __future__ import annotations

import numpy as np

from quorum.agents.skills.cube.planner.arrays import BOW, LANE, OPEN, STANDING, UNREACHED, WALL, Integers, Team
from quorum.agents.skills.cube.planner.jit import compiled


@compiled
def measure_ways(team: Team) -> Integers:
    """Measure the distances of all walking agents, and let mates exchange targets if that is shorter.

    Returns:
        The agents in the order in which they choose: those in front of a moving block; then by the rank of their task,
        then those that have walked longest without reaching its block (Okumura et al.), then the nearest.
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
    """Measure distances to an agent's target around all obstacles; through standing agents if there is no other way."""
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
    """Measure distances to the way out of the bow in which an agent stands."""
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
    """Search breadth first from the queued cells over ground up to `passable`, slightly beyond the agent's mates.

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
    """Let two walking mates exchange targets if that reduces the sum of their squared distances."""
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
                    team.target[i, k], team.target[other, k] = team.target[other, k], team.target[i, k]
                scratch = own_field.copy()
                own_field[:] = other_field
                other_field[:] = scratch


@compiled
def _walks(team: Team, i: int) -> bool:
    on_bow = team.ground[team.agents[i, 0], team.agents[i, 1]] == BOW
    return not team.settled[i] and not team.decided[i] and team.target[i, 0] >= 0 and not on_bow

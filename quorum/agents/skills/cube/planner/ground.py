"""Kernels for the ground of a step: what walking agents must avoid, above all the paths of moving blocks.

In front of a moving block lies its lane, which it will sweep, and in the lane its bow: the cells that an agent could
not leave in time.
"""

from __future__ import annotations

import numpy as np

from quorum.agents.skills.cube.planner.arrays import BOW, COL, LANE, OPEN, PUSHING, ROW, STANDING, WALL, WEIGHT, Team
from quorum.agents.skills.cube.planner.blocks import chain, clear_columns
from quorum.agents.skills.cube.planner.jit import compiled


@compiled
def survey(team: Team) -> None:
    """Mark the ground for the searches: blocks, staying agents, and the bows of moving blocks."""
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
        delay = _time_to_start(team, j)
        if delay < len(grid):
            for k in range(chain(team, j, moving)):
                _draw_bow(team, j, moving[k], delay)
    for i in range(len(team.agents)):
        j = team.current[i]
        if j < len(team.order) and team.phase[j] == PUSHING:
            ground[team.agents[i, 0], team.agents[i, 1]] = STANDING


@compiled
def _draw_bow(team: Team, j: int, block: int, delay: int) -> None:
    """Mark the lane in front of a block, and in it the cells that an agent could not leave in time.

    The block reaches the column `ahead` after `delay + ahead` steps; an agent needs `out` steps to leave its rows.
    """
    grid, ground = team.grid, team.ground
    top, left, weight = team.blocks[block, ROW], team.blocks[block, COL], team.blocks[block, WEIGHT]
    reach = min(clear_columns(team, j, block), len(grid) - left - weight)
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
def _time_to_start(team: Team, j: int) -> int:
    """Return the minimum steps until a task can start to push: the distance of its farthest member.

    K if a member is busy elsewhere, as are all members of a finished task.
    """
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

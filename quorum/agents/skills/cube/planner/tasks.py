"""Kernels for the tasks of a step: where agents gather, and which teams push."""

from __future__ import annotations

import numpy as np

from quorum.agents.skills.cube.planner.arrays import ALIVE, DONE, GATHERING, PUSHING, RIGHT, STAY, Team
from quorum.agents.skills.cube.planner.blocks import clear_columns, staging_cells, way_is_clear
from quorum.agents.skills.cube.planner.ground import survey
from quorum.agents.skills.cube.planner.jit import compiled


@compiled
def begin_step(team: Team) -> None:
    """Update tasks, targets and the ground, and decide the actions of pushing teams."""
    team.actions[:] = STAY
    team.claimed[:] = False
    team.decided[:] = False
    _open_and_close_tasks(team)
    for j in range(len(team.order)):
        if team.phase[j] == GATHERING:
            _give_targets(team, j)
            _start(team, j)
    survey(team)
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
    """Assign the staging cells at a block's left face from top to bottom, so that paths do not cross.

    Lines behind the face follow when it is full. Agents that come later keep their share.
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
def _start(team: Team, j: int) -> None:
    """Start to push when all members are at the block."""
    for i in range(len(team.agents)):
        if team.members[j, i] and (
            team.current[i] != j
            or team.agents[i, 0] != team.target[i, 0]
            or team.agents[i, 1] != team.target[i, 1]
            or team.target[i, 0] < 0
        ):
            return
    if clear_columns(team, j, team.order[j]) > 0:
        team.phase[j] = PUSHING


@compiled
def _push(team: Team) -> None:
    """Continue the pushes, unless an agent is in front of the blocks or these may not advance."""
    moving = np.empty(len(team.blocks), dtype=np.int64)
    for j in range(len(team.order)):
        if team.phase[j] != PUSHING:
            continue
        action = RIGHT if way_is_clear(team, j, moving) else STAY
        for i in range(len(team.agents)):
            if team.members[j, i]:
                team.actions[i] = action
                team.decided[i] = True

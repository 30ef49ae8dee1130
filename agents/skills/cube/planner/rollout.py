"""Rolls a schedule forward under CUBE's own rules: what a team will really do, step by step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cube_env import CubeState
from quorum.agents.skills.cube.planner.arrays import PUSHING, Team
from quorum.agents.skills.cube.planner.jit import Integers
from quorum.agents.skills.cube.planner.motion import move
from quorum.agents.skills.cube.planner.schedule import Schedule
from quorum.agents.skills.cube.planner.staging import begin_step
from quorum.agents.skills.cube.planner.ways import measure_ways

PATIENCE = 3
"""Steps without any block moving after which a team counts as stuck, in sides of the grid."""


@dataclass(frozen=True)
class Rollout:
    """What became of a schedule in T steps."""

    actions: Integers
    """(T, n): the joint actions."""
    pushes: Integers
    """(T, n): the block that an agent pushes in a step, -1 when it walks or stays."""
    agents: Integers
    """(T + 1, n, 2): the cells of the agents before each step and at the end."""
    blocks: Integers
    """(T + 1, B, 4): row, col, weight of the blocks, and 1 while they are there, likewise."""

    @property
    def steps(self) -> int:
        """Number of steps, T."""
        return len(self.actions)

    @property
    def value(self) -> tuple[int, int, int]:
        """What a team wants little of: weight left undelivered, steps, and the sum of blocks left over all steps."""
        weight, alive = self.blocks[-1, :, 2], self.blocks[:, :, 3]
        return int((weight * alive[-1]).sum()), self.steps, int(alive.sum())

    def until_last_push(self) -> Rollout:
        """Return the steps up to the last one that moves a block; all of them when none does."""
        working = np.flatnonzero((self.pushes >= 0).any(axis=1))
        if working.size == 0:
            return self
        end = int(working[-1]) + 1
        return Rollout(self.actions[:end], self.pushes[:end], self.agents[: end + 1], self.blocks[: end + 1])


def roll_out(schedule: Schedule, state: CubeState, limit: int) -> Rollout:
    """Let a team carry out a schedule.

    Args:
        schedule: who does what.
        state: where it begins; it is left as it is.
        limit: steps to take at most.

    Returns:
        The steps until all that is scheduled is delivered; or until the team is stuck, or the limit.
    """
    state = state.copy()
    team = _team(schedule, state)
    block_of = np.append(schedule.order, -1)
    phase_of = np.append(team.phase, 0)
    actions: list[Integers] = []
    pushes: list[Integers] = []
    agents, blocks = [state.agents.copy()], [state.block_table.copy()]
    left_over = int((schedule.carrier < 0).sum())
    stuck_at = PATIENCE * state.side
    while state.live > left_over and len(actions) < min(limit, stuck_at):
        begin_step(team)
        move(team, measure_ways(team))
        phase_of[:-1] = team.phase
        pushed = np.where(phase_of[team.current] == PUSHING, block_of[team.current], -1)
        state.advance(team.actions)
        moved = (state.block_table != blocks[-1]).any(axis=1)
        if moved.any():
            stuck_at = len(actions) + 1 + PATIENCE * state.side
        # A push that moves nothing is the same as staying, and reads better.
        in_vain = (pushed >= 0) & ~moved[pushed]
        actions.append(np.where(in_vain, 0, team.actions))
        pushes.append(np.where(in_vain | (team.actions == 0), -1, pushed))
        agents.append(state.agents.copy())
        blocks.append(state.block_table.copy())
    shape = (len(actions), len(state.agents))
    return Rollout(
        np.array(actions, dtype=np.int64).reshape(shape),
        np.array(pushes, dtype=np.int64).reshape(shape),
        np.array(agents),
        np.array(blocks),
    )


def _team(schedule: Schedule, state: CubeState) -> Team:
    side, n = state.side, len(state.agents)
    return Team(
        agents=state.agents,
        blocks=state.block_table,
        grid=state.grid,
        order=schedule.order,
        members=schedule.members,
        carrier=schedule.carrier,
        phase=np.zeros(len(schedule.order), dtype=np.int64),
        current=np.full(n, -1, dtype=np.int64),
        target=np.full((n, 2), -1, dtype=np.int64),
        ground=np.zeros((side, side), dtype=np.int64),
        field=np.full((n, side, side), -1, dtype=np.int32),
        claimed=np.zeros((side, side), dtype=np.bool_),
        settled=np.zeros(n, dtype=np.bool_),
        waited=np.zeros(n, dtype=np.int64),
        decided=np.zeros(n, dtype=np.bool_),
        queue=np.zeros(side * side, dtype=np.int64),
        seen=np.zeros((side, side), dtype=np.bool_),
        actions=np.zeros(n, dtype=np.int64),
    )

"""Which agents push which block, and in which order: a schedule with estimated times, improved by local search.

A priority list of blocks becomes a schedule by serial schedule generation, the standard scheme of project scheduling
under resource constraints (Kolisch, "Serial and parallel resource-constrained project scheduling methods revisited",
EJOR 90, 1996): block by block, the agents that can be there first form its team, and it starts when all of them are
there and every block ahead of it in its rows has started. So no team pushes a block into another that waits, and every
agent visits its blocks in the order of the list: no two teams wait for each other.

The team of a block may also push blocks ahead along with it (a chain), if it is strong enough for all of them. The
search uses estimated times first, then the times measured in rollouts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp
from typing import NamedTuple

import numpy as np

from quorum.agents.skills.cube.planner.arrays import ALIVE, CLEARANCE, COL, ROW, WEIGHT, Flags, Integers
from quorum.agents.skills.cube.planner.jit import compiled

NOT_SCHEDULED = -1

LEFT_BEHIND = 10
"""Cost of an undelivered unit of weight, in sides of the grid."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Search effort of a planner.

    Attributes:
        starts: number of schedules annealed from scratch.
        changes: number of changes tried on each of them.
        rollouts: maximum number of schedules rolled out.
        work: limit on all rollouts, in agents times cells of the grid times steps.
    """

    starts: int
    changes: int
    rollouts: int
    work: int


class Choice(NamedTuple):
    """The variables of the search."""

    priority: Integers
    """(B,): the blocks, most urgent first."""
    chain: Flags
    """(B,): whether a block's team may push blocks ahead along with it instead of waiting for their own teams."""
    latest: Flags
    """(B,): whether the last of the agents that are there in time form its team, to spare the early ones."""


@dataclass(frozen=True)
class Schedule:
    """Tasks by rank; each is the delivery of a block by a team."""

    order: Integers
    """(J,): the block of each task."""
    members: Flags
    """(J, n): its team."""
    carrier: Integers
    """(B,): rank of the task that delivers a block; -1 if none can."""
    cost: float
    """Estimated steps until all is delivered, plus a little for the mean time of a block and much for what is left."""

    @property
    def key(self) -> bytes:
        """A key, equal for equal schedules."""
        return self.order.tobytes() + self.members.tobytes() + self.carrier.tobytes()


class Project(NamedTuple):
    """The input of scheduling."""

    agents: Integers
    """(n, 2): cells of the agents."""
    blocks: Integers
    """(B, 4): row, col, weight, and 1 while it is present."""
    ahead: Flags
    """(B, B): whether the second block is ahead of the first; see `blocks_ahead`."""
    room: Integers
    """(B,): number of agents that can stand where they push a block to the right."""
    side: int
    """Side of the grid."""

    def schedule(self, choice: Choice) -> Schedule:
        """Make the schedule of a choice."""
        count = len(self.blocks)
        order, carrier = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
        members = np.zeros((count, len(self.agents)), dtype=np.bool_)
        tasks, cost = generate(self, choice, order, members, carrier)
        return Schedule(order[:tasks], members[:tasks], carrier, cost)


def blocks_ahead(blocks: Integers) -> Flags:
    """Return which blocks a block would meet if it were pushed to the goal, directly or through others.

    Args:
        blocks: (B, 4) row, col, weight, and 1 while it is present.

    Returns:
        (B, B): whether the second is ahead of the first.
    """
    row, col, weight, alive = blocks.T
    same_rows = (row[:, None] < (row + weight)[None, :]) & (row[None, :] < (row + weight)[:, None])
    ahead: Flags = same_rows & (col[None, :] >= (col + weight)[:, None]) & (alive[:, None] & alive[None, :] == 1)
    for between in range(len(blocks)):
        ahead |= ahead[:, between, None] & ahead[None, between, :]
    return ahead


@compiled
def generate(project: Project, choice: Choice, order: Integers, members: Flags, carrier: Integers) -> tuple[int, float]:
    """Generate a schedule into the last three arrays, which are those of `Schedule`.

    Returns:
        Number of tasks and estimated cost.
    """
    blocks, ahead = project.blocks, project.ahead
    n, count = len(project.agents), len(blocks)
    carrier[:] = NOT_SCHEDULED
    members[:] = False
    cells = project.agents.astype(np.int64)
    free_at = np.zeros(n, dtype=np.int64)
    start = np.zeros(count, dtype=np.int64)
    tasks = makespan = total = 0
    for wanted in choice.priority:
        while blocks[wanted, ALIVE] and carrier[wanted] == NOT_SCHEDULED:
            block, force = _next_block(project, choice, carrier, wanted)
            if block < 0:
                break
            begin = 0
            for other in range(count):
                if ahead[block, other] and carrier[other] != NOT_SCHEDULED:
                    gap = blocks[other, COL] - blocks[block, COL] - blocks[block, WEIGHT]
                    begin = max(begin, start[other] - max(gap - 1 - CLEARANCE, 0))
            team = _pick_team(blocks[block], force, choice.latest[block], free_at, cells)
            top, weight = blocks[block, ROW], blocks[block, WEIGHT]
            for k in range(force):
                members[tasks, team[k]] = True
                begin = max(begin, free_at[team[k]] + _walk(cells[team[k]], blocks[block], top + k * weight // force))
            end = begin + project.side - blocks[block, COL] - weight
            for k in range(force):
                free_at[team[k]] = end
                cells[team[k], 0] = top + k * weight // force
                cells[team[k], 1] = project.side - 1 - weight
            for other in range(count):
                if other == block or (ahead[block, other] and carrier[other] == NOT_SCHEDULED):
                    carrier[other] = tasks
                    start[other] = begin
            order[tasks] = block
            tasks += 1
            makespan = max(makespan, end)
            total += end
    left = ((carrier == NOT_SCHEDULED) * blocks[:, WEIGHT] * blocks[:, ALIVE]).sum()
    return tasks, makespan + 0.1 * total / max(tasks, 1) + LEFT_BEHIND * project.side * left


@compiled
def _next_block(project: Project, choice: Choice, carrier: Integers, wanted: int) -> tuple[int, int]:
    """Find the block to start with: the wanted one, or the most urgent one in its way.

    Returns:
        The block and the force that it needs; -1 if it cannot be delivered to the right.
    """
    block = wanted
    while True:
        force = project.blocks[block, WEIGHT]
        next_one = -1
        for other in choice.priority:
            if project.ahead[block, other] and carrier[other] == NOT_SCHEDULED:
                force += project.blocks[other, WEIGHT]
                if next_one < 0:
                    next_one = other
        fits = force <= min(len(project.agents), project.room[block])
        if next_one < 0 or (choice.chain[block] and fits):
            return (block, force) if fits else (-1, 0)
        block = next_one


@compiled
def _pick_team(block: Integers, force: int, latest: bool, free_at: Integers, cells: Integers) -> Integers:
    """Pick the agents that can reach a block first or, of those that can be there by then, the last ones.

    Returns:
        The team, from the top row to the bottom one.
    """
    n = len(cells)
    arrival = np.empty(n, dtype=np.int64)
    for agent in range(n):
        row = min(max(cells[agent, 0], block[ROW]), block[ROW] + block[WEIGHT] - 1)
        arrival[agent] = free_at[agent] + _walk(cells[agent], block, row)
    by_arrival = np.argsort(arrival, kind="mergesort")
    first = 0
    if latest:
        while first + force < n and arrival[by_arrival[first + force]] == arrival[by_arrival[force - 1]]:
            first += 1
    team = by_arrival[first : first + force]
    return team[np.argsort(cells[team, 0], kind="mergesort")]


@compiled
def _walk(cell: Integers, block: Integers, goal_row: int) -> int:
    """Return the steps from a cell to a cell of a block's left face, around that block but no other obstacle."""
    row, col = cell[0], cell[1]
    top, left, weight = block[ROW], block[COL], block[WEIGHT]
    across = int(abs(col - left + 1))
    if col < left or row < top or row >= top + weight:
        return across + int(abs(row - goal_row))
    return across + int(min(row + goal_row - 2 * (top - 1), 2 * (top + weight) - row - goal_row))


@dataclass(frozen=True)
class Rollout:
    """The result of carrying out a schedule for T steps."""

    actions: Integers
    """(T, n): the joint actions."""
    pushes: Integers
    """(T, n): the block that an agent pushes in a step; -1 if it walks or stays."""
    agents: Integers
    """(T + 1, n, 2): cells of the agents before each step and at the end."""
    blocks: Integers
    """(T + 1, B, 4): row, col, weight, and presence of the blocks before each step and at the end."""

    @property
    def steps(self) -> int:
        """Number of steps, T."""
        return len(self.actions)

    @property
    def value(self) -> tuple[int, int, int]:
        """The objectives to minimize: weight left undelivered, steps, and the sum of blocks left over all steps."""
        weight, alive = self.blocks[-1, :, 2], self.blocks[:, :, 3]
        return int((weight * alive[-1]).sum()), self.steps, int(alive.sum())

    def until_last_push(self) -> Rollout:
        """Return the steps up to the last one that moves a block; all steps if none does."""
        working = np.flatnonzero((self.pushes >= 0).any(axis=1))
        if working.size == 0:
            return self
        end = int(working[-1]) + 1
        return Rollout(self.actions[:end], self.pushes[:end], self.agents[: end + 1], self.blocks[: end + 1])


HEAT = 3.0
"""Initial temperature of annealing, in steps."""
MARGIN = 1.1
"""Schedules whose estimate exceeds the best known steps by this factor are not rolled out."""

PERSISTENCE = 4
"""Multiple of its work that a search may spend until it finds a schedule that delivers everything."""


def search(
    project: Project,
    roll_out: Callable[[Schedule, int], Rollout],
    limit: int,
    effort: Effort,
    generator: np.random.Generator,
) -> Rollout:
    """Find a good schedule and return its rollout.

    Args:
        project: the agents and blocks.
        roll_out: carries out a schedule in at most the given number of steps.
        limit: remaining steps.
        effort: search effort.
        generator: random generator of all draws.
    """
    choices = [anneal(project, effort.changes, generator) for _ in range(effort.starts)]
    choice, best = choices[0], roll_out(project.schedule(choices[0]), limit)
    size = len(project.agents) * project.side**2
    work = best.steps * size
    known = {project.schedule(choice).key}
    for number in range(1, effort.rollouts):
        done = best.value[0] == 0
        if work > effort.work * (1 if done else PERSISTENCE):
            break
        candidate = choices[number] if number < len(choices) else change(choice, generator)
        schedule = project.schedule(candidate)
        if schedule.key in known or (done and schedule.cost > best.steps * MARGIN):
            continue
        known.add(schedule.key)
        found = roll_out(schedule, best.steps if done else limit)
        work += found.steps * size
        if found.value <= best.value:
            choice, best = candidate, found
    return best


def anneal(project: Project, changes: int, generator: np.random.Generator) -> Choice:
    """Find a schedule of low estimated cost by simulated annealing."""
    count = len(project.blocks)
    draws = generator.random((2, count)) < 0.5
    choice = Choice(generator.permutation(count), draws[0], draws[1])
    cost = project.schedule(choice).cost
    best, least = choice, cost
    for number in range(changes):
        candidate = change(choice, generator)
        new = project.schedule(candidate).cost
        heat = HEAT * (1 - number / changes)
        if new <= cost or generator.random() < exp((cost - new) / heat):
            choice, cost = candidate, new
            if cost < least:
                best, least = choice, cost
    return best


def change(choice: Choice, generator: np.random.Generator) -> Choice:
    """Move a block in the priority list, or flip one of its two options."""
    new = Choice(choice.priority.copy(), choice.chain.copy(), choice.latest.copy())
    kind, count = generator.random(), len(new.priority)
    block, place = generator.integers(count), generator.integers(count)
    if kind < 0.5:
        rest = np.delete(new.priority, block)
        new.priority[:] = np.insert(rest, place, choice.priority[block])
    elif kind < 0.75:
        new.chain[block] ^= True
    else:
        new.latest[block] ^= True
    return new

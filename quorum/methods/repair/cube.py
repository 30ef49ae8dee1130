"""Repair in CUBE: the published push heuristic, and advice that assigns a full team to one block.

Source: COOP2-Repair (arXiv 2603.00349 v2) and its public code. For each plan, the heuristic computes when the agent
pushes as though nothing were in the way, from Manhattan distances to the nearest cell of the face and the step counts
of actions. A block moves if as many agents as its weight push it at the same time, within `TOLERANCE` steps, from
cells of its face. Blocks and agents in the path are ignored.

Choices made here: the authors' code swaps row and column of blind moves; here a blind move goes where it says. The
authors' vocabulary has no rendezvous; here, agents that meet push from the step at which enough of them have arrived.
This code also judges participation, and judges each plan by its first push only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cube_env import (
    Entity,
    Face,
    Idle,
    Move,
    MoveToBlock,
    Navigate,
    PushBlock,
    PushTowards,
    Rendezvous,
    SymbolicBlock,
    Wait,
    YieldBlock,
)
from maeil.actions import SymbolicAction
from maeil.judging import Advice, Moment, PlanRules, Violation
from maeil.plans import Plan, Task
from maeil.tasks import Constraint
from maeil.world import World
from quorum.agents.skills.cube.plans import PATIENCE, SIDES, STEP, Wording, clear, manhattan
from quorum.agents.skills.cube.pushes import Board, Key, jobs

TOLERANCE = 1
"""Maximum number of steps between pushes that still count as simultaneous (published; the spatial tolerance is 0)."""


class CubeRepair(PlanRules):
    """The repair rules for CUBE, for both of its vocabularies.

    Args:
        wording: the wording of advised plans.
    """

    cooldown = 5

    def __init__(self, wording: Wording) -> None:
        self._wording = wording

    def task_of(self, world: World, agent: int, plan: Plan) -> Task | None:
        """Return the first push of a plan; a push without a known face counts as one from the left face."""
        pushes = jobs(Board(world.global_observation()), agent, plan)
        return _task((pushes[0].block, pushes[0].face or Face.left)) if pushes else None

    def predict(self, moment: Moment) -> Sequence[Violation]:
        """Return the blocks that will not move: too few agents for the block, at the face, or at the same time."""
        board = Board(moment.world.global_observation())
        found: list[Violation] = []
        for task, agents in moment.groups.items():
            key = _key(task)
            block = board.blocks.get(key[0])
            if block is None:
                continue
            pushes = _pushes(board, key, {agent: moment.plans[agent].rest for agent in agents})
            cohort = _cohort(pushes)
            counts = {
                Constraint.SPATIAL: sum(push.at_face for push in cohort),
                Constraint.TEMPORAL: len(cohort),
                Constraint.PARTICIPATION: len(agents),
            }
            found += [
                Violation(task, constraint, agents, count, block.weight)
                for constraint, count in counts.items()
                if count < block.weight
            ]
        return found

    def advise(self, moment: Moment, failures: Sequence[Violation]) -> Advice | None:
        """Return plans for a whole team to deliver one block that can be staffed.

        It prefers blocks with a clear path that belong to a failing task, then heavier, then nearer blocks, and skips
        blocks that other plans are expected to move. It picks the agents with the shortest actual paths among those
        whose plans serve no task expected to succeed; if these are too few for every block, it picks among all agents.
        """
        board = Board(moment.world.global_observation())
        failing = {failure.task for failure in failures}
        failing_blocks = {_key(task)[0] for task in failing}
        served = {_key(task)[0] for task in moment.groups if task not in failing}
        free = [agent for agent in range(len(board.agents)) if moment.tasks.get(agent) in (None, *failing)]
        for pool in (free, list(range(len(board.agents)))):
            chosen = min(
                (
                    (block.id not in failing_blocks, -block.weight, ways[-1], block.id, team)
                    for block in clear(board.seen)
                    if block.id not in served and (found := _team(board, block, pool)) is not None
                    for ways, team in [found]
                ),
                default=None,
            )
            if chosen is not None:
                block = board.blocks[chosen[3]]
                plan = self._wording.delivery(block, "advised by the repair", PATIENCE + chosen[2])
                return Advice(_task((block.id, Face.left)), dict.fromkeys(sorted(chosen[4]), plan))
        return None


def rules(world: World) -> CubeRepair:
    """Return the rules that write advice in the world's vocabulary."""
    return CubeRepair(Wording.of(world.vocabulary.names))


@dataclass(frozen=True, slots=True)
class _Push:
    """When an agent pushes, in steps from now, and whether it stands on a cell of the face."""

    begin: int
    end: int
    at_face: bool


@dataclass(frozen=True, slots=True)
class _Arrival:
    """A plan up to its push: arrival time, whether at the face, push steps, patience, and number of agents awaited."""

    time: int
    at_face: bool
    steps: int
    patience: int
    count: int


def _task(key: Key) -> Task:
    return Task("push", f"block_{key[0]}/{key[1].value}")


def _key(task: Task) -> Key:
    block, _, face = task.target.removeprefix("block_").partition("/")
    return int(block), Face(face)


def _pushes(board: Board, key: Key, plans: Mapping[int, Sequence[SymbolicAction]]) -> list[_Push]:
    """Return some agents' pushes at a face; an agent that waits for more agents than arrive never pushes."""
    found = {agent: _arrival(board, key, agent, actions) for agent, actions in plans.items()}
    there = sorted(arrival.time for arrival in found.values() if arrival is not None and arrival.count)
    pushes = []
    for arrival in found.values():
        if arrival is None or arrival.count > len(there):
            continue
        begin = max(arrival.time, there[arrival.count - 1]) if arrival.count else arrival.time
        if begin - arrival.time <= arrival.patience:
            left = arrival.patience if not arrival.count else 0
            pushes.append(_Push(begin, begin + arrival.steps - 1 + left, arrival.at_face))
    return pushes


def _arrival(board: Board, key: Key, agent: int, actions: Sequence[SymbolicAction]) -> _Arrival | None:
    """Simulate a plan up to its push of a block, as though nothing were in the way."""
    block, cells = board.blocks[key[0]], board.face(*key)
    cell, time, count, patience = board.agents[agent], 0, 0, 0
    usual = SIDES * board.side
    for action in actions:
        match action:
            case MoveToBlock(block=block.id) | Navigate(entity=Entity.block, id=block.id):
                nearest = min(cells, key=lambda place: manhattan(cell, place))
                cell, time = nearest, time + manhattan(cell, nearest)
            case Navigate(entity=Entity.cell, cell=(row, col)):
                cell, time = (row, col), time + manhattan(cell, (row, col))
            case Move(direction=direction, steps=steps):
                down, right = STEP[direction]
                cell, time = (cell[0] + down * steps, cell[1] + right * steps), time + steps
            case Idle(steps=steps) | Wait(steps=steps) | YieldBlock(steps=steps):
                time += steps
            case Rendezvous(block=block.id, count=wanted, timeout=timeout):
                count, patience = wanted, timeout if timeout is not None else usual
            case PushBlock(block=block.id, steps=steps, timeout=timeout):
                waits = patience if count else timeout if timeout is not None else usual
                return _Arrival(time, cell in cells, steps, waits, count)
            case PushTowards(block=block.id, steps=steps):
                return _Arrival(time, cell in cells, steps, 0, 0)
    return None


def _cohort(pushes: Sequence[_Push]) -> Sequence[_Push]:
    """Return the largest set of pushes that overlap, within the tolerance."""
    instants = sorted(push.begin for push in pushes)
    cohorts = ([push for push in pushes if push.begin - TOLERANCE <= t <= push.end + TOLERANCE] for t in instants)
    return max(cohorts, key=len, default=[])


def _team(board: Board, block: SymbolicBlock, pool: Sequence[int]) -> tuple[list[int], list[int]] | None:
    """Return the path lengths and indices of the nearest agents that can push from the left; None if too few can."""
    ways = board.ways(block.id, Face.left)
    near = sorted((ways[board.agents[agent]], agent) for agent in pool if board.agents[agent] in ways)[: block.weight]
    if len(near) < block.weight:
        return None
    return [way for way, _ in near], [agent for _, agent in near]

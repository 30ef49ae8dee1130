"""Repair in CUBE: the published rule of thumb for pushes, and an assignment for a block that can be staffed.

Source: COOP2-Repair (arXiv 2603.00349 v2) and its public code. Of each plan it is worked out when its agent pushes, as
though nothing were in the way: Manhattan distances to the nearest cell of the face, and the steps that actions name. A
block is moved when as many agents as it weighs push it at the same time, give or take `TOLERANCE` steps, from cells of
its face. Blocks and agents in front are not looked at.

Decided here: the authors' code exchanges row and column of blind moves; these go where they say. Their vocabulary has
no meeting; who meets pushes from the step on in which enough have come to the meeting. Participation is judged as well,
and a plan by its first push alone.
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
"""Steps by which pushes may miss each other and still count as one (published; the spatial tolerance is 0)."""


class CubeRepair(PlanRules):
    """What repair needs to know of CUBE, in both of its vocabularies.

    Args:
        wording: of the plans that it advises.
    """

    cooldown = 5

    def __init__(self, wording: Wording) -> None:
        self._wording = wording

    def task_of(self, world: World, agent: int, plan: Plan) -> Task | None:
        """Return the first push of a plan; of a push from nowhere the one from the left face."""
        pushes = jobs(Board(world.global_observation()), agent, plan)
        return _task((pushes[0].block, pushes[0].face or Face.left)) if pushes else None

    def predict(self, moment: Moment) -> Sequence[Violation]:
        """Return which blocks will not be moved: too few agents for it, at the face, or at the same time."""
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
        """Return whole teams' plans for one block that can be staffed.

        Preferred are blocks with a clear way of which a task fails, then heavier ones, then nearer ones; not those that
        other plans are expected to move. Those who are nearest by the ways that are there go, of all whose plans serve
        no task that is expected to come off; where these are too few for any block, of all agents.
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
    """Return the rules that advise plans in the vocabulary of a world."""
    return CubeRepair(Wording.of(world.vocabulary.names))


@dataclass(frozen=True, slots=True)
class _Push:
    """When an agent pushes, in steps from now, and whether from a cell of the face."""

    begin: int
    end: int
    at_face: bool


@dataclass(frozen=True, slots=True)
class _Arrival:
    """What comes of a plan up to its push: when, where, with how much patience, and for how many it waits."""

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
    """Return the pushes of some agents at a face; who meets more than come to the meeting never pushes."""
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
    """Walk through a plan up to its push of a block, as though nothing were in the way."""
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
    """Return the most pushes that overlap, give or take the tolerance."""
    instants = sorted(push.begin for push in pushes)
    cohorts = ([push for push in pushes if push.begin - TOLERANCE <= t <= push.end + TOLERANCE] for t in instants)
    return max(cohorts, key=len, default=[])


def _team(board: Board, block: SymbolicBlock, pool: Sequence[int]) -> tuple[list[int], list[int]] | None:
    """Return the nearest agents that can push a block from the left, with their ways; None where there are too few."""
    ways = board.ways(block.id, Face.left)
    near = sorted((ways[board.agents[agent]], agent) for agent in pool if board.agents[agent] in ways)[: block.weight]
    if len(near) < block.weight:
        return None
    return [way for way, _ in near], [agent for _, agent in near]

"""The tasks that the board poses, and what each lacks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from cube_env.arrays import ALIVE, COL, ROW, WEIGHT, ActionArray, IntArray
from cube_env.constants import OPPOSITE_FACE, STEP_TOWARDS, Cell, Face, PushOutcome
from cube_env.constraints import FACE_OF_DIRECTION, ConstraintWatch
from cube_env.state import CubeState, StepReport
from cube_env.symbolic.actions import Entity, MoveToBlock, Navigate, PushBlock, PushTowards, Rendezvous
from maeil.plans import Plan, Task
from maeil.tasks import Attempt, OpenTask, TaskState
from maeil.world import NEAREST


def push_task(block: int, face: Face) -> Task:
    """Return the task of pushing a block away from a face."""
    return Task("push", f"block_{block}/{face}")


class TaskBoard:
    """The tasks of one episode: to push each block away from each of its faces.

    Args:
        state: the arrays of the episode.
    """

    def __init__(self, state: CubeState) -> None:
        self._state = state
        self._watch = ConstraintWatch(state)
        self._tasks: list[dict[Face, Task]] = []
        self._name()

    def _name(self) -> None:
        blocks = range(len(self._tasks), len(self._state.block_table))
        self._tasks += [{face: push_task(block, face) for face in Face} for block in blocks]

    def grow(self) -> None:
        """Take in the tasks of blocks that have come to the board."""
        self._watch.grow()
        self._name()

    def changes(self, joint: ActionArray, pushing: IntArray) -> list[TaskState]:
        """Return the tasks whose constraints have changed: see `cube_env.constraints`."""
        return [
            TaskState(self._tasks[found.block][found.face], *found[2:]) for found in self._watch.changes(joint, pushing)
        ]

    def attempts(self, report: StepReport) -> tuple[Attempt, ...]:
        """Return the push attempts of a step."""
        return tuple(
            Attempt(
                self._tasks[push.block][FACE_OF_DIRECTION[push.direction]],
                push.agents,
                push.outcome in (PushOutcome.moved, PushOutcome.delivered),
            )
            for push in report.pushes
        )


WALL = "wall"

_Key = tuple[int, Face]
_TARGET = re.compile(r"block_(\d+)(?:/(\w+))?")


def open_tasks(state: CubeState, plans: Sequence[Plan | None]) -> list[OpenTask]:
    """Return the tasks of live blocks that somebody's plan names, by block, then the nearest others.

    A block is as near as the agent nearest to its left face; of equally near ones the lower id comes first.

    Args:
        state: the board as it is.
        plans: the live plan of each agent.
    """
    live = np.flatnonzero(state.block_table[:, ALIVE]).tolist()
    planned: dict[_Key, list[int]] = {}
    for agent, plan in enumerate(plans):
        key = _key_of(plan, live) if plan is not None else None
        if key is not None:
            planned.setdefault(key, []).append(agent)
    named = {block for block, _ in planned}
    others = [block for block in live if block not in named]
    others.sort(key=lambda block: (_distance(state, block), block))
    keys = [*sorted(planned), *((block, Face.left) for block in others[:NEAREST])]
    return [_open_task(state, key, tuple(planned.get(key, ()))) for key in keys]


def _key_of(plan: Plan, live: Collection[int]) -> _Key | None:
    """The face that a plan works at: of the first live block that its actions name, else of the one its task names."""
    faces: dict[int, Face] = {}
    for action in plan.actions:
        match action:
            case MoveToBlock(block=block, face=face) | Rendezvous(block=block, face=face):
                faces.setdefault(block, face)
            case PushBlock(block=block) | PushTowards(block=block) | Navigate(entity=Entity.block, id=int(block)):
                faces.setdefault(block, Face.left)
    if plan.task is not None and (found := _TARGET.match(plan.task.target)):
        faces.setdefault(int(found[1]), Face(found[2]) if found[2] in set(Face) else Face.left)
    return next(((block, face) for block, face in faces.items() if block in live), None)


def _distance(state: CubeState, block: int) -> int:
    row, col, weight = state.block_table[block, [ROW, COL, WEIGHT]].tolist()
    rows, cols = state.agents[:, 0], state.agents[:, 1]
    nearest = np.clip(rows, row, row + weight - 1)
    return int((np.abs(rows - nearest) + np.abs(cols - (col - 1))).min(initial=2 * state.side))


def _open_task(state: CubeState, key: _Key, planned: tuple[int, ...]) -> OpenTask:
    block, face = key
    in_place = tuple(sorted(_in_line(state, block, face)))
    chain, stops = _chain(state, block, face)
    needs = int(state.block_table[chain, WEIGHT].sum())
    before = (*(f"block_{other}" for other in sorted(chain[1:])), *stops)
    task = Task("push", f"block_{block}/{face}")
    return OpenTask(task, needs, max(0, needs - len(in_place)), in_place, planned=planned, before=before)


def _edge(state: CubeState, block: int, face: Face) -> list[Cell]:
    """The cells just outside a face, on the board or not."""
    row, col, weight = state.block_table[block, [ROW, COL, WEIGHT]].tolist()
    if face in (Face.left, Face.right):
        nearest = col - 1 if face is Face.left else col + weight
        return [(row + k, nearest) for k in range(weight)]
    nearest = row - 1 if face is Face.up else row + weight
    return [(nearest, col + k) for k in range(weight)]


def _in_line(state: CubeState, block: int, face: Face) -> Iterator[int]:
    """The agents on the face cells, and in the gap-free lines behind them."""
    row_step, col_step = STEP_TOWARDS[face]
    for row, col in _edge(state, block, face):
        while 0 <= row < state.side and 0 <= col < state.side and state.grid[row, col] > 0:
            yield int(state.grid[row, col]) - 1
            row, col = row - row_step, col - col_step  # noqa: PLW2901 (walks down the line)


def _chain(state: CubeState, block: int, face: Face) -> tuple[list[int], list[str]]:
    """The blocks that a push moves, the pushed one first; and what stops them all, by name."""
    chain, agents, wall = [block], set[int](), False
    for member in chain:
        for row, col in _edge(state, member, OPPOSITE_FACE[face]):
            if not (0 <= row < state.side and 0 <= col < state.side):
                wall = True
                continue
            code = int(state.grid[row, col])
            if code > 0:
                agents.add(code - 1)
            elif code < 0 and -code - 1 not in chain:
                chain.append(-code - 1)
    return chain, [*(f"agent_{agent}" for agent in sorted(agents)), *([WALL] if wall else [])]

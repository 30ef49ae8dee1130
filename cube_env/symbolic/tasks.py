"""The tasks that the board poses, and what each task lacks."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np

from cube_env.arrays import ALIVE, COL, ROW, WEIGHT, ActionArray, IntArray
from cube_env.concepts import aligned_agents, blocks_ahead, in_the_way, push_chain
from cube_env.constants import PUSH_DIRECTION, Face, PushOutcome
from cube_env.constraints import DIRECTIONS, NUMBERS, task_changes
from cube_env.state import CubeState, Snapshot, StepReport
from cube_env.symbolic.actions import Entity, MoveToBlock, Navigate, PushBlock, PushTowards, Rendezvous
from cube_env.symbolic.episode_state import face_of
from maeil.plans import Plan, Task
from maeil.tasks import Attempt, OpenTask, TaskState
from maeil.world import NEAREST

_FACES = sorted(Face, key=PUSH_DIRECTION.__getitem__)
"""The faces of a block in the order of its tasks: by push direction."""


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
        self._plans: list[Plan | None] = [None] * len(state.agents)
        self._faces: list[_Faces] = [{} for _ in state.agents]
        self._numbers = np.empty((0, NUMBERS), dtype=np.int32)
        self.grow()

    def grow(self) -> None:
        """Add the tasks of blocks added to the board."""
        blocks, known = range(len(self._state.block_table)), self._numbers
        self._tasks = [push_task(block, face) for block in blocks for face in _FACES]
        self._numbers = np.full((len(self._tasks), NUMBERS), -1, dtype=np.int32)
        self._numbers[: len(known)] = known

    def changes(self, joint: ActionArray, pushing: IntArray, plans: Sequence[Plan | None]) -> list[TaskState]:
        """Return the tasks whose constraints have changed since the last call; the first call returns all.

        Args:
            joint: (n,) the primitives about to be taken.
            pushing: (n,) the block that each agent's symbolic action pushes; -1 for none.
            plans: the live plan of each agent.
        """
        return self.changed_by(joint, pushing, self._served(plans))

    def changed_by(self, joint: ActionArray, pushing: IntArray, served: IntArray) -> list[TaskState]:
        """Return the tasks that have changed, as `changes` does; see `cube_env.constraints`.

        Args:
            joint: as in `changes`.
            pushing: as in `changes`.
            served: (n,) the row of the task that each agent's live plan serves; -1 for none.
        """
        table = self._state.block_table
        rows = task_changes(self._state.grid, table, joint, pushing, served, self._numbers)
        weights = table[rows // DIRECTIONS, WEIGHT]
        return [
            TaskState(
                self._tasks[row], threshold, spatial, temporal, participation, together, bool(dependency),
                (weight, near, weight) if threshold else (0, 0, 0),
            )
            for row, weight, (threshold, spatial, temporal, participation, together, dependency, near) in zip(
                rows.tolist(), weights.tolist(), self._numbers[rows].tolist(), strict=True
            )
        ]  # fmt: skip

    def _served(self, plans: Sequence[Plan | None]) -> IntArray:
        """Return the task row that each plan serves, (n,), -1 for none; each plan is read once."""
        live = self._state.block_table[:, ALIVE].nonzero()[0].tolist()
        served = np.full(len(plans), -1, dtype=np.int32)
        for agent, plan in enumerate(plans):
            if plan is not self._plans[agent]:
                self._plans[agent], self._faces[agent] = plan, _faces_of(plan) if plan is not None else {}
            key = _key_of(self._state, agent, self._faces[agent], live)
            if key is not None:
                served[agent] = DIRECTIONS * key[0] + PUSH_DIRECTION[key[1]] - 1
        return served

    def attempts(self, report: StepReport, joint: ActionArray, pushing: IntArray) -> tuple[Attempt, ...]:
        """Return the push attempts of a step; an agent that pushes a named block without touching it counts as failed.

        Args:
            report: the report of the step.
            joint: (n,) the primitives of the step.
            pushing: (n,) the block that each agent's symbolic action pushed in it; -1 for none.
        """
        found: dict[Task, Attempt] = {}
        for push in report.pushes:
            task = self._tasks[DIRECTIONS * push.block + push.direction - 1]
            moved = push.outcome in (PushOutcome.moved, PushOutcome.delivered)
            found[task] = Attempt(task, push.agents, moved)
        touching = {agent for push in report.pushes for agent in push.agents}
        for agent in np.flatnonzero((pushing >= 0) & (joint > 0)).tolist():
            task = self._tasks[DIRECTIONS * pushing[agent] + joint[agent] - 1]
            others = found.get(task, Attempt(task, (), succeeded=False))
            if agent not in touching and not others.succeeded:
                found[task] = Attempt(task, tuple(sorted((*others.agents, agent))), succeeded=False)
        return tuple(found.values())


_Key = tuple[int, Face]
_Faces = dict[int, Face | None]
"""The faces at which a plan works, by block in the order of first mention; None: where its agent stands."""
_TARGET = re.compile(rf"\bblock[_ ](\d{{1,9}})(?:/({'|'.join(Face)}))?\b")


def open_tasks(state: CubeState, plans: Sequence[Plan | None], text: str = "") -> list[OpenTask]:
    """Return the live-block tasks named in plans or in a text, by block, then the nearest others.

    The distance of a block is that of the agent nearest to its left face; ties go to the lower id.

    Args:
        state: the current board.
        plans: the live plan of each agent.
        text: names blocks as `block_3`, and their faces as `block_3/up`.
    """
    live = np.flatnonzero(state.block_table[:, ALIVE]).tolist()
    planned: dict[_Key, list[int]] = {}
    for agent, plan in enumerate(plans):
        key = _key_of(state, agent, _faces_of(plan), live) if plan is not None else None
        if key is not None:
            planned.setdefault(key, []).append(agent)
    for block, face in _named(text):
        if block in live:
            planned.setdefault((block, face or Face.left), [])
    named = {block for block, _ in planned}
    others = [block for block in live if block not in named]
    others.sort(key=lambda block: (_distance(state, block), block))
    keys = [*sorted(planned), *((block, Face.left) for block in others[:NEAREST])]
    snapshot = state.snapshot()
    return [_open_task(snapshot, key, tuple(planned.get(key, ()))) for key in keys]


def _named(text: str) -> list[tuple[int, Face | None]]:
    """The faces that a text names; None for a block alone."""
    return [(int(block), Face(face) if face else None) for block, face in _TARGET.findall(text)]


def _key_of(state: CubeState, agent: int, faces: _Faces, live: Collection[int]) -> _Key | None:
    """The face that a plan works at: of the first live block; by default the left face, from which it is delivered."""
    found = next(((block, face) for block, face in faces.items() if block in live), None)
    return found and (found[0], found[1] or face_of(state, agent, found[0]) or Face.left)


def _faces_of(plan: Plan) -> _Faces:
    """The face at which a plan works for each block that its actions name, else its task."""
    faces: _Faces = {}
    for action in plan.actions:
        match action:
            case MoveToBlock(block=block, face=face) | Rendezvous(block=block, face=face):
                faces.setdefault(block, face)
            case Navigate(entity=Entity.block, id=int(block)):
                faces.setdefault(block, Face.left)
            case PushBlock(block=block) | PushTowards(block=block):
                faces.setdefault(block, None)
    for block, named in _named(plan.task.target) if plan.task is not None else ():
        if named is not None or block not in faces:
            faces[block] = faces.get(block) or named or Face.left
    return faces


def _distance(state: CubeState, block: int) -> int:
    row, col, weight = state.block_table[block, [ROW, COL, WEIGHT]].tolist()
    rows, cols = state.agents[:, 0], state.agents[:, 1]
    nearest = np.clip(rows, row, row + weight - 1)
    return int((np.abs(rows - nearest) + np.abs(cols - (col - 1))).min(initial=2 * state.side))


def _open_task(snapshot: Snapshot, key: _Key, planned: tuple[int, ...]) -> OpenTask:
    block, face = key
    in_place, chain = aligned_agents(snapshot, block, face), push_chain(snapshot, block, face)
    needs = sum(square.weight for square in chain)
    ahead = {square.id for square in chain[1:]}.union(blocks_ahead(snapshot, block) if face is Face.left else ())
    before = (*(f"block_{other}" for other in sorted(ahead)), *in_the_way(snapshot, block, face))
    lacking = max(0, needs - len(in_place))
    return OpenTask(push_task(block, face), needs, lacking, in_place, planned=planned, before=before)

"""The tasks of a board as the loop follows them: `Task("push", "block_3/left")`, their constraints and attempts."""

from __future__ import annotations

from cube_env.arrays import ActionArray, IntArray
from cube_env.constants import Face, PushOutcome
from cube_env.constraints import FACE_OF_DIRECTION, ConstraintWatch
from cube_env.report import StepReport
from cube_env.state import CubeState
from maeil.plans import Task
from maeil.tasks import Attempt, TaskState


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

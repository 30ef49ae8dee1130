"""The fulfilment of cooperative tasks' constraints, for attempted tasks and from step to step."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import cast

from maeil.tasks import Constraint
from maeil.trace.events import ConstraintChange, Stamped, StepTaken
from maeil.trace.reader import Trace, shared
from maeil.trace.story import TaskName, name_of

SINGLE = (Constraint.SPATIAL, Constraint.TEMPORAL, Constraint.PARTICIPATION, Constraint.DEPENDENCY)
"""The constraints that hold independently of each other; `JOINT` combines them."""


def fulfilment(state: ConstraintChange, constraint: Constraint) -> float:
    """Return the degree to which a constraint of an active task is fulfilled, from 0 to 1.

    It is `min(1, count / p)`. For the dependency it is 0 or 1. For the joint condition, the count is of agents that
    satisfy all of them, and the result is 0 without the dependency.
    """
    if constraint is Constraint.DEPENDENCY:
        return float(state.dependency)
    if constraint is Constraint.JOINT and not state.dependency:
        return 0.0
    count: int = getattr(state, constraint)
    return min(1.0, count / state.threshold)


def single(state: ConstraintChange) -> tuple[bool, ...]:
    """Return whether each of the `SINGLE` constraints is satisfied."""
    p = state.threshold
    return state.spatial >= p, state.temporal >= p, state.participation >= p, state.dependency


def cooperative(state: ConstraintChange) -> bool:
    """Return whether the joint condition C_coop holds: the dependency, and p agents that satisfy the other three."""
    return state.dependency and state.joint >= state.threshold


@dataclass(frozen=True, slots=True)
class Attempted:
    """A task with at least one attempt in a step.

    Attributes:
        state: its constraints under the joint action of that step, with agents at the positions they acted from.
        after: its constraints before the next step; None if the task was over, or no step followed.
    """

    state: ConstraintChange
    after: ConstraintChange | None


@dataclass(frozen=True, slots=True)
class TaskHistory:
    """The history of all tasks.

    Attributes:
        attempted: every (step, task) pair with an attempt and a known state.
        quorums: number of tasks with a joint condition that held in some step.
        gatherings: for each active period of a task that reached a quorum, the steps until the first quorum, counted
            from the first agent in place; if all agents leave, counting starts again.
    """

    attempted: Sequence[Attempted]
    quorums: int
    gatherings: Sequence[int]


@shared
def task_history(trace: Trace) -> TaskHistory:
    """Return the history of the tasks of a trace."""
    gatherings = [tuple(_gatherings(reports)) for reports in trace.story.tasks.values()]
    return TaskHistory(tuple(_attempted(trace)), sum(map(bool, gatherings)), tuple(chain.from_iterable(gatherings)))


def _attempted(trace: Trace) -> Iterator[Attempted]:
    """Yield the tasks attempted in each step, each once per step."""
    steps = [stamped.seq for stamped in trace.stamped(StepTaken)]
    seen: set[tuple[int, TaskName]] = set()
    for attempt in trace.story.attempts:
        step = bisect_right(steps, attempt.event.seq)
        if attempt.state is not None and (step, attempt.task) not in seen:
            seen.add((step, attempt.task))
            yield Attempted(attempt.state, _state_at(trace, attempt.task, steps[step]) if step < len(steps) else None)


def _state_at(trace: Trace, task: TaskName, seq: int) -> ConstraintChange | None:
    """Return the last report of a task before an event; None if the task was over."""
    reports = trace.story.tasks[task]
    place = bisect_right(reports, seq, key=lambda stamped: stamped.seq)
    state = cast(ConstraintChange, reports[place - 1].event)
    return state if state.threshold else None


def _gatherings(reports: Sequence[Stamped]) -> Iterator[int]:
    """Yield the steps from the first participant of a task to its first quorum, for each of its active periods."""
    since: int | None = None
    met = False
    for stamped in reports:
        state = cast(ConstraintChange, stamped.event)
        if not state.threshold:
            since, met = None, False
            continue
        if not state.spatial:
            since = None
        elif since is None:
            since = stamped.t
        if not met and cooperative(state):
            met = True
            yield stamped.t - since if since is not None else 0


def flipping_tasks(
    trace: Trace, holds: Callable[[ConstraintChange], Sequence[bool]]
) -> tuple[list[set[TaskName]], list[set[TaskName]]]:
    """Find, for each condition, the tasks in which it became true in some step, and those in which it became false.

    Args:
        trace: the trace.
        holds: returns whether each condition holds in a state; the number of conditions is constant.

    Returns:
        For each condition, the tasks in which it became true, and those in which it became false; empty lists without
        tasks.
    """
    active: dict[TaskName, Sequence[bool]] = {}
    risen: list[set[TaskName]] = []
    fallen: list[set[TaskName]] = []
    for state in trace.of(ConstraintChange):
        name = name_of(state.task)
        before = active.pop(name, None)
        if not state.threshold:
            continue
        active[name] = after = holds(state)
        if not risen:
            risen, fallen = [set() for _ in after], [set() for _ in after]
        if before is not None and before != after:
            for old, new, up, down in zip(before, after, risen, fallen, strict=True):
                if new != old:
                    (up if new else down).add(name)
    return risen, fallen

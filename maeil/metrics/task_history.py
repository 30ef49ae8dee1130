"""How far the constraints of cooperative tasks were fulfilled, where agents attempted them and from step to step."""

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
"""The constraints of which each is fulfilled or not by itself; `JOINT` ties them together."""


def fulfilment(state: ConstraintChange, constraint: Constraint) -> float:
    """Return how far a constraint of an active task is fulfilled, from 0 to 1.

    `min(1, count / p)`; for the dependency 0 or 1; for the joint condition the same agents are counted, and nothing is
    fulfilled without the dependency.
    """
    if constraint is Constraint.DEPENDENCY:
        return float(state.dependency)
    if constraint is Constraint.JOINT and not state.dependency:
        return 0.0
    count: int = getattr(state, constraint)
    return min(1.0, count / state.threshold)


def single(state: ConstraintChange) -> tuple[bool, ...]:
    """Return for each of the `SINGLE` constraints whether it is satisfied."""
    p = state.threshold
    return state.spatial >= p, state.temporal >= p, state.participation >= p, state.dependency


def cooperative(state: ConstraintChange) -> bool:
    """Return the joint condition C_coop: the dependency, and p agents that satisfy the other three at once."""
    return state.dependency and state.joint >= state.threshold


@dataclass(frozen=True, slots=True)
class Attempted:
    """A task at which at least one attempt was made in a step.

    Attributes:
        state: its constraints under the joint action of that step, so that agents count where they acted from.
        after: its constraints before the next step; None when it was over, or no step followed.
    """

    state: ConstraintChange
    after: ConstraintChange | None


@dataclass(frozen=True, slots=True)
class TaskHistory:
    """The history of all tasks.

    Attributes:
        attempted: every (step, task) with an attempt and a known state.
        quorums: number of tasks whose joint condition held in some step.
        gatherings: for each active time of a task that came to a quorum, the steps until the first quorum, counted
            from the first agent in place; when all leave, counting starts again.
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
    """Yield the tasks that were attempted in each step, up to the next step taken."""
    steps = [stamped.seq for stamped in trace.stamped(StepTaken)]
    seen: set[tuple[int, TaskName]] = set()
    for attempt in trace.story.attempts:
        step = bisect_right(steps, attempt.event.seq)
        if attempt.state is not None and (step, attempt.task) not in seen:
            seen.add((step, attempt.task))
            yield Attempted(attempt.state, _state_at(trace, attempt.task, steps[step]) if step < len(steps) else None)


def _state_at(trace: Trace, task: TaskName, seq: int) -> ConstraintChange | None:
    """Return the last report of a task before an event; None where the task was over."""
    reports = trace.story.tasks[task]
    place = bisect_right(reports, seq, key=lambda stamped: stamped.seq)
    state = cast(ConstraintChange, reports[place - 1].event)
    return state if state.threshold else None


def _gatherings(reports: Sequence[Stamped]) -> Iterator[int]:
    """Yield the steps from the first participant of a task to its first quorum, for each time that it was active."""
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
    """Find the tasks of which each condition became true in some step, and those of which it became false.

    Args:
        trace: the trace.
        holds: gives the truth of each condition in a state, of as many in every one.

    Returns:
        For each condition the tasks in which it rose, and for each those in which it fell; empty lists without tasks.
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

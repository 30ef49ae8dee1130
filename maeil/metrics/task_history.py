"""The cooperative tasks of an episode: their constraints step by step, and every attempt at them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from maeil.metrics.shared import shared
from maeil.tasks import Constraint
from maeil.trace.events import ConstraintChange, StepOutcome, StepTaken
from maeil.trace.reader import Trace

TaskName = tuple[str, str]
"""Kind and target of a task."""

SINGLE = (Constraint.SPATIAL, Constraint.TEMPORAL, Constraint.PARTICIPATION, Constraint.DEPENDENCY)
"""The constraints of which each is fulfilled or not by itself; `JOINT` ties them together."""


def fulfilment(state: ConstraintChange, constraint: Constraint) -> float:
    """Return how far a constraint of an active task is fulfilled, from 0 to 1.

    `min(1, count / p)`; for the dependency 0 or 1; for the joint condition the same agents are counted, and nothing is
    fulfilled without the dependency.
    """
    p = state.threshold
    match constraint:
        case Constraint.SPATIAL:
            return min(1.0, state.spatial / p)
        case Constraint.TEMPORAL:
            return min(1.0, state.temporal / p)
        case Constraint.PARTICIPATION:
            return min(1.0, state.participation / p)
        case Constraint.DEPENDENCY:
            return float(state.dependency)
        case Constraint.JOINT:
            return min(1.0, state.joint / p) if state.dependency else 0.0


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


@dataclass(slots=True)
class _Task:
    """What is remembered of an active task."""

    state: ConstraintChange
    satisfied: tuple[bool, ...]
    present_since: int | None = None
    quorum: bool = False


@dataclass(slots=True)
class TaskHistory:
    """The history of all tasks.

    Attributes:
        tasks: tasks that were ever active.
        attempted: every (step, task) with an attempt and a known state.
        gained: changes of one constraint of one task from violated to satisfied (C- to C+).
        lost: changes the other way round.
        improved: for each of the `SINGLE` constraints, the tasks with a change of the first sort.
        worsened: for each of them, the tasks with a change of the second sort.
        shares: for each step, the share of the constraints of all active tasks that are satisfied: |C+| / |C+ and C-|.
        quorums: tasks whose joint condition held in some step.
        gatherings: for each task that came to its first quorum, steps since the first of those agents was in place who
            were there from then on, one or another, without a gap.
    """

    tasks: set[TaskName] = field(default_factory=set)
    attempted: list[Attempted] = field(default_factory=list)
    gained: int = 0
    lost: int = 0
    improved: Mapping[Constraint, set[TaskName]] = field(default_factory=lambda: {one: set() for one in SINGLE})
    worsened: Mapping[Constraint, set[TaskName]] = field(default_factory=lambda: {one: set() for one in SINGLE})
    shares: list[float] = field(default_factory=list)
    quorums: set[TaskName] = field(default_factory=set)
    gatherings: list[int] = field(default_factory=list)


def name_of(task: Mapping[str, str]) -> TaskName:
    """Return the name of a task as an event writes it."""
    return task["kind"], task["target"]


@shared
def task_history(trace: Trace) -> TaskHistory:
    """Derive the history of the tasks of a trace. The first report of a task is where it begins, and no change."""
    return _Follower().follow(trace)


class _Follower:
    """Goes through a trace once."""

    def __init__(self) -> None:
        self._history = TaskHistory()
        self._active: dict[TaskName, _Task] = {}
        self._satisfied = 0
        self._pending: list[tuple[TaskName, ConstraintChange]] = []

    def follow(self, trace: Trace) -> TaskHistory:
        for stamped in trace.among(ConstraintChange, StepTaken, StepOutcome):
            event = stamped.event
            if isinstance(event, ConstraintChange):
                self._change(event, stamped.t)
            elif isinstance(event, StepTaken):
                self._close_attempts()
                if self._active:
                    self._history.shares.append(self._satisfied / (len(SINGLE) * len(self._active)))
            elif isinstance(event, StepOutcome):
                tasks = dict.fromkeys(name_of(attempt["task"]) for attempt in event.attempts)
                known = {task for task, _ in self._pending}
                new = [task for task in tasks if task in self._active and task not in known]
                self._pending += [(task, self._active[task].state) for task in new]
        self._active.clear()
        self._close_attempts()
        return self._history

    def _close_attempts(self) -> None:
        for name, state in self._pending:
            now = self._active.get(name)
            self._history.attempted.append(Attempted(state, now.state if now is not None else None))
        self._pending.clear()

    def _change(self, state: ConstraintChange, t: int) -> None:
        name = name_of(state.task)
        if not state.threshold:
            over = self._active.pop(name, None)
            self._satisfied -= sum(over.satisfied) if over is not None else 0
            return
        satisfied = single(state)
        task = self._active.get(name)
        if task is None:
            self._history.tasks.add(name)
            task = self._active[name] = _Task(state, satisfied)
            self._satisfied += sum(satisfied)
        elif task.satisfied != satisfied:
            self._compare(name, task.satisfied, satisfied)
            self._satisfied += sum(satisfied) - sum(task.satisfied)
            task.satisfied = satisfied
        task.state = state
        self._gather(name, task, t)

    def _compare(self, name: TaskName, before: tuple[bool, ...], after: tuple[bool, ...]) -> None:
        history = self._history
        for constraint, old, new in zip(SINGLE, before, after, strict=True):
            if new and not old:
                history.improved[constraint].add(name)
                history.gained += 1
            elif old and not new:
                history.worsened[constraint].add(name)
                history.lost += 1

    def _gather(self, name: TaskName, task: _Task, t: int) -> None:
        if task.quorum:
            return
        if not task.state.spatial:
            task.present_since = None
        elif task.present_since is None:
            task.present_since = t
        if cooperative(task.state):
            task.quorum = True
            self._history.quorums.add(name)
            self._history.gatherings.append(t - task.present_since if task.present_since is not None else 0)


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

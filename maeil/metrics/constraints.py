"""Metrics of the constraints of cooperative tasks, and of changes of capabilities (EmCoop, embodied metrics).

A task with threshold p needs p agents that are committed to it or act on it (participation), p agents in place
(spatial), p agents whose action in this step works on it (temporal), its prerequisites (dependency), and p agents that
satisfy all of these at once (joint: C_coop). All counts are from before the effects of a step. An action that the world
refuses, and an unsuccessful wait for others, are failed attempts of that step.

Rates are over (step, task) pairs with at least one attempt. Each failed attempt has one cause, the first violated
condition in the order dependency (missing prerequisite), participation (too few agents committed), spatial (wrong
place), temporal (wrong time), joint. Participation comes before spatial and temporal because an agent that acts on a
task is committed to it, so that too few committed agents always imply too few acting ones.
"""

from __future__ import annotations

from functools import partial

from maeil.metrics.registry import Value, metric
from maeil.metrics.statistics import mean, ratio
from maeil.metrics.task_history import SINGLE, flipping_tasks, fulfilment, single, task_history
from maeil.tasks import Constraint
from maeil.trace.events import CapabilityChange, StepTaken
from maeil.trace.reader import Trace, shared
from maeil.trace.story import TaskName


@metric("constraints.attempts", "attempts")
def attempts(trace: Trace) -> Value:
    """Attempts at cooperative tasks by one or more agents, summed over steps."""
    return len(trace.story.attempts)


@metric("constraints.failed_attempts", "attempts", better="lower")
def failed_attempts(trace: Trace) -> Value:
    """Attempts at cooperative tasks that failed."""
    return sum(not attempt.succeeded for attempt in trace.story.attempts)


@metric("constraints.attempt_success_rate", better="higher", rate=True)
def attempt_success_rate(trace: Trace) -> Value:
    """Attempts that succeeded / attempts; None without any."""
    made = trace.story.attempts
    return 1 - sum(not attempt.succeeded for attempt in made) / len(made) if made else None


def _satisfied(constraint: Constraint, trace: Trace) -> Value:
    return mean([float(fulfilment(pair.state, constraint) >= 1) for pair in task_history(trace).attempted])


def _violation(constraint: Constraint, trace: Trace) -> Value:
    return mean([1 - fulfilment(pair.state, constraint) for pair in task_history(trace).attempted])


def _missing(constraint: Constraint, trace: Trace) -> int:
    return sum(attempt.missing[:1] == (constraint,) for attempt in trace.story.attempts)


def _share(constraint: Constraint, trace: Trace) -> Value:
    return ratio(_missing(constraint, trace), sum(not attempt.succeeded for attempt in trace.story.attempts))


_DEGREES = {
    Constraint.DEPENDENCY: "1 if the dependency does not hold, else 0",
    Constraint.JOINT: "1 - min(1, agents that satisfy all three at once / p); 1 if the dependency does not hold",
}
_CAUSES = {
    Constraint.DEPENDENCY: "a missing prerequisite (dependency)",
    Constraint.PARTICIPATION: "too few agents committed to the task or acting on it (participation)",
    Constraint.SPATIAL: "too few agents in place, although enough are committed (spatial)",
    Constraint.TEMPORAL: "too few agents acting in the same step, although enough are in place (temporal)",
    Constraint.JOINT: "too few agents that meet all three conditions, although each condition has enough (joint)",
}
for _constraint in Constraint:
    _degree = _DEGREES.get(_constraint, "1 - min(1, count / p)")
    metric(
        f"constraints.satisfied_{_constraint}",
        better="higher",
        rate=True,
        doc=f"Share of the (step, task) pairs with an attempt in which the {_constraint} condition held.",
    )(partial(_satisfied, _constraint))
    metric(
        f"constraints.violation_{_constraint}",
        better="lower",
        rate=True,
        doc=f"Mean over (step, task) pairs with an attempt of the violation of the {_constraint} condition: {_degree}.",
    )(partial(_violation, _constraint))
for _constraint in Constraint:
    metric(
        f"constraints.missing_{_constraint}",
        "attempts",
        better="lower",
        doc=f"Failed attempts caused by {_CAUSES[_constraint]}.",
    )(partial(_missing, _constraint))
    metric(
        f"constraints.share_{_constraint}",
        rate=True,
        doc=f"Failed attempts caused by {_CAUSES[_constraint]} / failed attempts; None without any.",
    )(partial(_share, _constraint))


@metric("constraints.missing_none", "attempts", better="lower")
def missing_none(trace: Trace) -> Value:
    """Failed attempts without a violated condition; the world has another reason."""
    return sum(not attempt.succeeded and not attempt.missing for attempt in trace.story.attempts)


def _improvement_ratio(constraint: Constraint, trace: Trace) -> Value:
    risen, fallen = _flips(trace)
    place = SINGLE.index(constraint)
    improved, worsened = (len(found[place]) if found else 0 for found in (risen, fallen))
    return ratio(improved, improved + worsened)


@shared
def _flips(trace: Trace) -> tuple[list[set[TaskName]], list[set[TaskName]]]:
    return flipping_tasks(trace, single)


for _constraint in SINGLE:
    metric(
        f"constraints.improvement_ratio_{_constraint}",
        better="higher",
        rate=True,
        doc=f"""Tasks whose {_constraint} condition improved / (improved + worsened) tasks; None if both are 0.

        A condition improves when it goes from C- to C+ in a step; a task may count as both (EmCoop, C_c_ratio).
        `emcoop.improvement_ratio_{_constraint}` uses EmCoop's own conditions.
        """,
    )(partial(_improvement_ratio, _constraint))


@metric("constraints.quorums", "tasks")
def quorums(trace: Trace) -> Value:
    """Tasks whose joint condition held in at least one step."""
    return task_history(trace).quorums


@metric("constraints.time_to_quorum", "environment steps", better="lower")
def time_to_quorum(trace: Trace) -> Value:
    """Mean, over tasks that reached a quorum, of the steps from the first participant to the first quorum.

    The first participant is the first agent in place. If all agents leave before the quorum, counting starts again.
    """
    return mean(task_history(trace).gatherings)


@metric("capability.gains", "capabilities", better="higher")
def gains(trace: Trace) -> Value:
    """Capabilities gained, counted by agent (EmCoop, Z gains)."""
    return sum(change.gained for change in trace.of(CapabilityChange))


@metric("capability.losses", "capabilities")
def losses(trace: Trace) -> Value:
    """Capabilities lost, counted by agent (EmCoop, Z losses)."""
    return sum(not change.gained for change in trace.of(CapabilityChange))


@metric("capability.gain_rate", "capabilities per environment step", better="higher")
def gain_rate(trace: Trace) -> Value:
    """Capabilities gained / T (EmCoop, Z_gain_rate)."""
    return ratio(sum(change.gained for change in trace.of(CapabilityChange)), len(trace.stamped(StepTaken)))

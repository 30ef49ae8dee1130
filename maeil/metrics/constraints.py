"""Whether the constraints of cooperative tasks were met (EmCoop, cooperative constraints).

A task with threshold p needs p agents that are in place (spatial), p whose action of this step works on it (temporal),
p who are able (participation), whatever else it depends on (dependency), and that p agents satisfy the first three at
once (joint: C_coop). All numbers are those of the moment before the effects of a step.

Rates are over (step, task) pairs with at least one attempt.
"""

from __future__ import annotations

from functools import partial

from maeil.metrics.registry import Value, metric
from maeil.metrics.statistics import mean, ratio
from maeil.metrics.task_history import SINGLE, fulfilment, task_history
from maeil.tasks import Constraint
from maeil.trace.events import StepOutcome
from maeil.trace.reader import Trace


@metric("constraints.attempts", "attempts")
def attempts(trace: Trace) -> Value:
    """Attempts of agents, alone or together, at cooperative tasks, summed over steps."""
    return sum(len(outcome.attempts) for outcome in trace.of(StepOutcome))


@metric("constraints.failed_attempts", "attempts", better="lower")
def failed_attempts(trace: Trace) -> Value:
    """Attempts at cooperative tasks that did not come off."""
    return sum(not attempt["succeeded"] for outcome in trace.of(StepOutcome) for attempt in outcome.attempts)


@metric("constraints.attempt_success_rate", better="higher", rate=True)
def attempt_success_rate(trace: Trace) -> Value:
    """Attempts that came off / attempts; None without any."""
    made = attempts(trace)
    failed = failed_attempts(trace)
    return None if not made or failed is None else 1 - failed / made


def _satisfied(constraint: Constraint, trace: Trace) -> Value:
    return mean([float(fulfilment(pair.state, constraint) >= 1) for pair in task_history(trace).attempted])


def _violation(constraint: Constraint, trace: Trace) -> Value:
    return mean([1 - fulfilment(pair.state, constraint) for pair in task_history(trace).attempted])


def _missing(constraint: Constraint, trace: Trace) -> Value:
    return sum(constraint in attempt["missing"] for outcome in trace.of(StepOutcome) for attempt in outcome.attempts)


_DEGREES = {
    Constraint.DEPENDENCY: "1 when the dependency does not hold, else 0",
    Constraint.JOINT: "1 - min(1, agents that satisfy all three at once / p), 1 without the dependency",
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
    _alone = " (it alone: enough agents for each of the others, but not the same ones)"
    metric(
        f"constraints.missing_{_constraint}",
        "attempts",
        better="lower",
        doc="Failed attempts that lacked the"
        f" {_constraint} condition{_alone if _constraint is Constraint.JOINT else ''}; one attempt may lack several.",
    )(partial(_missing, _constraint))


@metric("constraints.missing_none", "attempts", better="lower")
def missing_none(trace: Trace) -> Value:
    """Failed attempts that lacked none of the conditions: they failed for another reason of the world."""
    made = (attempt for outcome in trace.of(StepOutcome) for attempt in outcome.attempts)
    return sum(not attempt["succeeded"] and not attempt["missing"] for attempt in made)


@metric("constraints.tasks", "tasks")
def tasks(trace: Trace) -> Value:
    """Cooperative tasks that were ever active."""
    return len(task_history(trace).tasks)


@metric("constraints.improved_tasks", "tasks")
def improved_tasks(trace: Trace) -> Value:
    """Tasks of which a spatial, temporal, participation or dependency condition went from C- to C+ in some step.

    After EmCoop's improved tasks; `coop2.improved_tasks` counts by the conditions of COOP2's tracker.
    """
    return len(set().union(*task_history(trace).improved.values()))


@metric("constraints.worsened_tasks", "tasks")
def worsened_tasks(trace: Trace) -> Value:
    """Tasks of which a spatial, temporal, participation or dependency condition went from C+ to C- in some step.

    After EmCoop's worsened tasks; `coop2.worsened_tasks` counts by the conditions of COOP2's tracker.
    """
    return len(set().union(*task_history(trace).worsened.values()))


def _improvement_ratio(constraint: Constraint, trace: Trace) -> Value:
    history = task_history(trace)
    improved, worsened = len(history.improved[constraint]), len(history.worsened[constraint])
    return ratio(improved, improved + worsened)


for _constraint in SINGLE:
    metric(
        f"constraints.improvement_ratio_{_constraint}",
        better="higher",
        rate=True,
        doc=f"""Tasks whose {_constraint} condition improved / those + the tasks in which it worsened; None without any.

        It improved where it went from C- to C+ in some step; a task may be among both (EmCoop, C_c_ratio).
        `emcoop.improvement_ratio_{_constraint}` is by EmCoop's own conditions.
        """,
    )(partial(_improvement_ratio, _constraint))


@metric("constraints.improvements", "changes")
def improvements(trace: Trace) -> Value:
    """Changes of one condition of one task from C- to C+."""
    return task_history(trace).gained


@metric("constraints.worsenings", "changes")
def worsenings(trace: Trace) -> Value:
    """Changes of one condition of one task from C+ to C-."""
    return task_history(trace).lost


@metric("constraints.satisfied_share", better="higher", rate=True)
def satisfied_share(trace: Trace) -> Value:
    """Mean over steps of |C+| / (|C+| + |C-|), over the four conditions of all active tasks, attempted or not."""
    return mean(task_history(trace).shares)


@metric("constraints.quorums", "tasks")
def quorums(trace: Trace) -> Value:
    """Tasks whose joint condition held in at least one step."""
    return len(task_history(trace).quorums)


@metric("constraints.time_to_quorum", "environment steps", better="lower")
def time_to_quorum(trace: Trace) -> Value:
    """Mean, over tasks that came to a quorum, of the steps from the first participant to the first quorum.

    The first participant is the first agent in place; when all leave before the quorum, counting begins anew.
    """
    return mean(task_history(trace).gatherings)


@metric("constraints.quorum_share", better="higher", rate=True)
def quorum_share(trace: Trace) -> Value:
    """Tasks whose joint condition held in at least one step / tasks that were ever active; None without any."""
    history = task_history(trace)
    return ratio(len(history.quorums), len(history.tasks))

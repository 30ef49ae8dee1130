"""Metrics of plans and their results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from maeil.metrics.registry import Value, metric
from maeil.metrics.statistics import mean, ratio
from maeil.plans import PlanStatus
from maeil.stages import Stage
from maeil.trace.events import PlanChange, StageChange, StepTaken
from maeil.trace.reader import Trace


def _ended(trace: Trace, *statuses: PlanStatus) -> int:
    return sum(plan.status in statuses for plan in trace.story.plans)


def live_plans(trace: Trace) -> Iterator[Mapping[int, PlanChange]]:
    """Yield the live plans by agent, at each step with at least one."""
    live: dict[int, PlanChange] = {}
    for stamped in trace.among(PlanChange, StepTaken):
        event = stamped.event
        if isinstance(event, PlanChange):
            if event.status == PlanStatus.COMMITTED:
                live[event.agent] = event
            elif PlanStatus(event.status).final:
                live.pop(event.agent, None)
        elif live:
            yield live


@metric("plans.number", "plans", title="plans")
def number(trace: Trace) -> Value:
    """Plans that agents committed to, including plans that never started to run."""
    return len(trace.story.plans)


@metric("plans.success_rate", better="higher", rate=True)
def success_rate(trace: Trace) -> Value:
    """Plans that succeeded / plans that ended before the episode did; None if none did."""
    finals = [status for status in PlanStatus if status.final and status is not PlanStatus.CANCELLED]
    return ratio(_ended(trace, PlanStatus.SUCCEEDED), _ended(trace, *finals))


@metric("plans.failed", "plans", better="lower")
def failed(trace: Trace) -> Value:
    """Plans that ended because one of their actions failed."""
    return _ended(trace, PlanStatus.FAILED)


@metric("plans.timed_out", "plans", better="lower")
def timed_out(trace: Trace) -> Value:
    """Plans that ended because one of their actions ran out of time."""
    return _ended(trace, PlanStatus.TIMED_OUT)


@metric("plans.interruptions", "entries of I")
def interruptions(trace: Trace) -> Value:
    """Interruptions of agents with a plan; one plan may be interrupted several times."""
    return sum(change.to_stage == Stage.INTERRUPTED for change in trace.of(StageChange))


@metric("plans.invalid", "plans", better="lower")
def invalid(trace: Trace) -> Value:
    """Idle plans committed because a mind gave no valid plan in any of its attempts."""
    return sum(plan.content.flag == "invalid_plan" for plan in trace.story.plans)


@metric("plans.coherence", better="higher", rate=True)
def coherence(trace: Trace) -> Value:
    """Mean over environment steps of: agents with the most common task / agents with a live plan.

    A plan without a task agrees with no other plan. Based on EmCoop's plan coherence, which compares the text of plans.
    """
    shares = []
    for live in live_plans(trace):
        tasks = Counter((plan.task["kind"], plan.task["target"]) if plan.task else plan.plan for plan in live.values())
        shares.append(max(tasks.values()) / len(live))
    return mean(shares)


@metric("plans.stability", better="higher", rate=True)
def stability(trace: Trace) -> Value:
    """1 - (plans interrupted or replaced) / plans committed.

    EmCoop plots a plan stability without giving a formula; this one is this project's own.
    """
    given_up = ratio(_ended(trace, PlanStatus.INTERRUPTED, PlanStatus.REPLACED), len(trace.story.plans))
    return None if given_up is None else 1 - given_up

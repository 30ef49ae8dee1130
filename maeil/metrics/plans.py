"""How plans fared."""

from __future__ import annotations

from collections import Counter

from maeil.metrics.registry import Value, metric
from maeil.plans import PlanStatus
from maeil.stages import Trigger
from maeil.trace.events import PlanChange, StageChange, StepTaken
from maeil.trace.reader import Trace


def _committed(trace: Trace) -> list[PlanChange]:
    return [change for change in trace.of(PlanChange) if change.status == PlanStatus.COMMITTED]


def _ended(trace: Trace, *statuses: PlanStatus) -> int:
    return sum(change.status in statuses for change in trace.of(PlanChange))


@metric("plans.number", "plans")
def number(trace: Trace) -> Value:
    """Plans committed."""
    return len(_committed(trace))


@metric("plans.mean_length", "symbolic actions")
def mean_length(trace: Trace) -> Value:
    """Mean number of symbolic actions of the committed plans."""
    lengths = [len(plan.actions or ()) for plan in _committed(trace)]
    return sum(lengths) / len(lengths) if lengths else None


@metric("plans.success_rate")
def success_rate(trace: Trace) -> Value:
    """Plans that succeeded / plans that ended before the episode did."""
    cut_off = _ended(trace, PlanStatus.CANCELLED)
    ended = _ended(trace, *(status for status in PlanStatus if status.final)) - cut_off
    return _ended(trace, PlanStatus.SUCCEEDED) / ended if ended else None


@metric("plans.failed", "plans")
def failed(trace: Trace) -> Value:
    """Plans that ended because an action of theirs failed."""
    return _ended(trace, PlanStatus.FAILED)


@metric("plans.timed_out", "plans")
def timed_out(trace: Trace) -> Value:
    """Plans that ended because an action of theirs ran out of time."""
    return _ended(trace, PlanStatus.TIMED_OUT)


@metric("plans.interrupted", "plans")
def interrupted(trace: Trace) -> Value:
    """Plans given up for another after they had begun to run."""
    return _ended(trace, PlanStatus.INTERRUPTED)


@metric("plans.replaced", "plans")
def replaced(trace: Trace) -> Value:
    """Plans given up for another before their first step."""
    return _ended(trace, PlanStatus.REPLACED)


@metric("plans.resumed", "decisions")
def resumed(trace: Trace) -> Value:
    """Decisions of an interrupted agent to go on with its plan."""
    return sum(change.reason == Trigger.RESUMED for change in trace.of(StageChange))


@metric("plans.invalid", "plans")
def invalid(trace: Trace) -> Value:
    """Idle plans committed because a mind gave no valid plan in all its tries."""
    return sum(plan.flag == "invalid_plan" for plan in _committed(trace))


@metric("plans.coherence")
def coherence(trace: Trace) -> Value:
    """Mean over environment steps of: agents whose task is the most common one / agents with a live plan.

    A plan without a task agrees with no other. After EmCoop's plan coherence, which compares the text of plans.
    """
    live: dict[int, str] = {}
    shares = []
    for stamped in trace.events:
        event = stamped.event
        if isinstance(event, PlanChange):
            if event.status == PlanStatus.COMMITTED:
                live[event.agent] = (
                    f"{event.task['kind']}:{event.task['target']}" if event.task else f"plan {event.plan}"
                )
            elif PlanStatus(event.status).final:
                live.pop(event.agent, None)
        elif isinstance(event, StepTaken) and live:
            shares.append(max(Counter(live.values()).values()) / len(live))
    return sum(shares) / len(shares) if shares else None


@metric("plans.stability")
def stability(trace: Trace) -> Value:
    """1 - (plans interrupted or replaced) / plans."""
    plans = len(_committed(trace))
    return 1 - _ended(trace, PlanStatus.INTERRUPTED, PlanStatus.REPLACED) / plans if plans else None

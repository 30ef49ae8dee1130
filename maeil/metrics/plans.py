"""How plans fared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from functools import partial

from maeil.metrics.plan_history import plan_history
from maeil.metrics.registry import Better, Value, metric
from maeil.metrics.shared import shared
from maeil.metrics.statistics import mean, ratio
from maeil.plans import PlanStatus
from maeil.stages import Stage, Trigger
from maeil.trace.events import ForcedReady, PlanChange, StageChange, StepTaken, ThoughtEnd
from maeil.trace.reader import Trace


def _ended(statuses: Collection[PlanStatus], trace: Trace) -> int:
    return sum(plan.end in statuses for plan in plan_history(trace))


@metric("plans.number", "plans", title="plans")
def number(trace: Trace) -> Value:
    """Plans that agents committed to, those included that never came to run."""
    return len(plan_history(trace))


@metric("plans.mean_length", "symbolic actions")
def mean_length(trace: Trace) -> Value:
    """Mean number of symbolic actions of the committed plans."""
    return mean([len(plan.committed.actions or ()) for plan in plan_history(trace)])


@metric("plans.success_rate", better="higher", rate=True)
def success_rate(trace: Trace) -> Value:
    """Plans that succeeded / plans that ended before the episode did; None when none did."""
    finals = [status for status in PlanStatus if status.final and status is not PlanStatus.CANCELLED]
    return ratio(_ended([PlanStatus.SUCCEEDED], trace), _ended(finals, trace))


_ENDS: tuple[tuple[PlanStatus, Better | None, str], ...] = (
    (PlanStatus.FAILED, "lower", "Plans that ended because an action of theirs failed."),
    (PlanStatus.TIMED_OUT, "lower", "Plans that ended because an action of theirs ran out of time."),
    (PlanStatus.INTERRUPTED, None, "Plans given up for another after they had begun to run."),
    (PlanStatus.REPLACED, None, "Plans given up for another before their first step."),
    (
        PlanStatus.CANCELLED,
        None,
        "Plans that were cut off by the end of the episode, or that an action of theirs cancelled.",
    ),
)
for _status, _better, _doc in _ENDS:
    metric(f"plans.{_status}", "plans", better=_better, doc=_doc)(partial(_ended, [_status]))


@metric("plans.interruptions", "entries of I")
def interruptions(trace: Trace) -> Value:
    """Times that a message interrupted an agent that had a plan; one plan may be interrupted several times."""
    return sum(change.to_stage == Stage.INTERRUPTED for change in trace.of(StageChange))


@shared
def _decisions_to_resume(trace: Trace) -> int:
    """Count them without the plans that the loop resumed in a mind's stead.

    It does so right after a refused thought that was the last try, and right after `forced_ready`.
    """
    in_its_stead: dict[int, bool] = {}
    found = 0
    for stamped in trace.among(ThoughtEnd, ForcedReady, StageChange):
        event = stamped.event
        if isinstance(event, ThoughtEnd):
            in_its_stead[event.agent] = bool(event.refused)
        elif isinstance(event, ForcedReady):
            in_its_stead[event.agent] = True
        elif isinstance(event, StageChange) and event.reason == Trigger.RESUMED:
            found += not in_its_stead.get(event.agent, False)
    return found


@metric("plans.resumed", "decisions")
def resumed(trace: Trace) -> Value:
    """Decisions of an interrupted agent to go on with its plan; not those that the loop made in its stead."""
    return _decisions_to_resume(trace)


@metric("plans.resumption_rate", rate=True)
def resumption_rate(trace: Trace) -> Value:
    """Share of the decisions of interrupted agents that were for the plan they had: resumed / (resumed + new plan)."""
    resumptions = _decisions_to_resume(trace)
    new = sum(change.reason == Trigger.REPLACED for change in trace.of(StageChange))
    return ratio(resumptions, resumptions + new)


@metric("plans.invalid", "plans", better="lower")
def invalid(trace: Trace) -> Value:
    """Idle plans committed because a mind gave no valid plan in all its tries."""
    return sum(plan.committed.flag == "invalid_plan" for plan in plan_history(trace))


@metric("plans.coherence", better="higher", rate=True)
def coherence(trace: Trace) -> Value:
    """Mean over environment steps of: agents whose task is the most common one / agents with a live plan.

    A plan without a task agrees with no other. After EmCoop's plan coherence, which compares the text of plans.
    """
    live: dict[int, str] = {}
    shares = []
    for stamped in trace.among(PlanChange, StepTaken):
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
    return mean(shares)


@metric("plans.stability", better="higher", rate=True)
def stability(trace: Trace) -> Value:
    """1 - (plans interrupted or replaced) / plans committed.

    EmCoop draws a plan stability and gives no formula for it; this is ours.
    """
    given_up = ratio(_ended([PlanStatus.INTERRUPTED, PlanStatus.REPLACED], trace), len(plan_history(trace)))
    return None if given_up is None else 1 - given_up

"""Every plan of an episode with its content and its end."""

from __future__ import annotations

from dataclasses import dataclass

from maeil.metrics.shared import shared
from maeil.plans import PlanStatus
from maeil.trace.events import PlanChange
from maeil.trace.reader import Trace


@dataclass(slots=True)
class PlanRecord:
    """A plan.

    Attributes:
        agent: whose it is.
        committed: the event that has its content.
        begun: whether it came to run.
        end: its final status; None when the trace ends before.
    """

    agent: int
    committed: PlanChange
    begun: bool = False
    end: PlanStatus | None = None


@shared
def plan_history(trace: Trace) -> tuple[PlanRecord, ...]:
    """Return the plans of a trace in the order in which they were committed."""
    plans: dict[str, PlanRecord] = {}
    for change in trace.of(PlanChange):
        status = PlanStatus(change.status)
        if status is PlanStatus.COMMITTED:
            plans[change.plan] = PlanRecord(change.agent, change)
        elif status is PlanStatus.RUNNING:
            plans[change.plan].begun = True
        else:
            plans[change.plan].end = status
    return tuple(plans.values())

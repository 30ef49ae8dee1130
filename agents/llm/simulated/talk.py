"""How the simulated speakers of several worlds talk: they say what they are going to do."""

from __future__ import annotations

from maeil.messages import Draft, Kind
from maeil.mind import Act, View
from maeil.plans import Plan

LEADER = "leader"


def announce(view: View, plan: Plan, nothing: str) -> tuple[Draft, ...]:
    """Say what a plan works on, as far as the turn allows it; an acknowledgement answers something only.

    Args:
        view: what the speaker sees.
        plan: what it is going to do.
        nothing: what it says without a task.
    """
    task = f"I work on {plan.task.target}: {plan.rationale}." if plan.task is not None else nothing
    if Act.SPEAK in view.turn.acts:
        kind = Kind.DIRECTIVE if view.turn.role == LEADER else Kind.PROPOSE
        return (Draft(view.turn.recipients, task, kind),)
    if Act.ACKNOWLEDGE in view.turn.acts and view.unread:
        return (Draft(view.turn.recipients, task, Kind.ACK),)
    return ()

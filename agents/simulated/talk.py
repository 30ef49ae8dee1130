"""How the simulated speakers of several worlds talk: they say what they are going to do."""

from __future__ import annotations

from maeil.messages import Draft, MessageKind
from maeil.mind import Act, Resume, Thought, View
from maeil.plans import Plan

LEADER = "leader"


def take_turn(view: View, plan: Plan, nothing: str, *, silent: bool = False) -> Thought:
    """Say what a plan works on, and commit it, as far as the turn allows both; resume where there is a plan already.

    Args:
        view: what the speaker sees.
        plan: what it is going to do.
        nothing: what it says without a task.
        silent: whether it says nothing at all.
    """
    talks = bool(view.turn.recipients) and view.plan is None and not silent
    messages = _announce(view, plan, nothing) if talks else ()
    if Act.PLAN not in view.turn.acts:
        return Thought(messages=messages)
    return Thought(plan if view.plan is None else Resume.RESUME, messages)


def _announce(view: View, plan: Plan, nothing: str) -> tuple[Draft, ...]:
    """Write the message; an acknowledgement answers something only."""
    task = f"I work on {plan.task.target}: {plan.rationale}." if plan.task is not None else nothing
    if Act.SPEAK in view.turn.acts:
        kind = MessageKind.DIRECTIVE if view.turn.role == LEADER else MessageKind.PROPOSE
        return (Draft(view.turn.recipients, task, kind),)
    if Act.ACKNOWLEDGE in view.turn.acts and view.unread:
        return (Draft(view.turn.recipients, task, MessageKind.ACK),)
    return ()

"""FM-2.4, information withholding: a mate's plan lacked what somebody knew and did not say."""

from __future__ import annotations

from collections.abc import Iterator

from maeil.failures.failure import Failure, FailureKind, Proof
from maeil.failures.history import History, PlanLife, between
from maeil.failures.lacks import lack_of


def withholdings(history: History) -> Iterator[Failure]:
    """Find what was withheld from plans that failed.

    A plan failed because its task was over when it was committed, or because its attempt was missing what an earlier
    attempt at the same task was missing, of which its agent was no part. Who took part in that event knows. One of them
    had a turn to speak after it, which ended before the thought of the plan began; it can reach the plan's agent (some
    message of the trace goes from the one to the other); and no message to the plan's agent has named the task since.
    """
    for plans in history.plans.values():
        for plan in plans:
            yield from withheld_from(history, plan)


def withheld_from(history: History, plan: PlanLife) -> Iterator[Failure]:
    """Find who has withheld from a plan's agent what the plan lacked."""
    if not (plan.failed and plan.own and plan.target and plan.thought):
        return
    lack = lack_of(history, plan)
    if lack is None or history.told(plan.target, plan.agent, lack.fact.seq, plan.committed.seq):
        return
    for agent in sorted(lack.knowers):
        turns = between(history.speaking.get(agent, ()), lack.fact.seq, plan.thought.seq, lambda turn: turn.seq)
        if turns and (agent, plan.agent) in history.edges:
            yield Failure.proven(
                FailureKind.WITHHOLDING,
                agent,
                plan.target,
                *lack.proofs,
                Proof.of(turns[-1], f"{history.names[agent]} had a turn to speak, and has not named {plan.target}"),
                Proof.of(plan.committed, f"{history.names[plan.agent]} committed plan {plan.id} for {plan.target}"),
                Proof.of(plan.ended, f"plan {plan.id} failed: {plan.reason}"),
            )

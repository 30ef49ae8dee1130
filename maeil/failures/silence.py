"""FM-2.2, fail to ask for clarification: waited for a quorum that nobody knew of."""

from __future__ import annotations

from collections.abc import Iterator

from maeil.failures.failure import Failure, FailureKind, Proof
from maeil.failures.history import History, between
from maeil.trace.story import PlanLife


def silences(history: History) -> Iterator[Failure]:
    """Find the plans that failed for want of mates whom nobody has asked.

    The last attempt of a failed plan, a wait in vain among them, had fewer agents than its task needs. Since the plan
    before ended, its agent had a turn to speak. Until the plan failed, no message has ever named the task. And no mate
    had a plan for it meanwhile: who plans for it knows of it.
    """
    for agent, plans in history.plans.items():
        since = -1
        for plan in plans:
            turns = between(
                history.speaking.get(agent, ()), since, plan.ended.seq if plan.end else since, lambda e: e.seq
            )
            since = plan.ended.seq if plan.end else since
            tried = history.last_attempt(plan) if plan.failed and plan.own and plan.target else None
            if tried is None or tried.succeeded or len(tried.agents) >= tried.needs or not turns:
                continue
            if not _known(history, plan):
                there = f"{len(tried.agents)} of {tried.needs} agents were there"
                yield Failure.proven(
                    FailureKind.SILENCE,
                    agent,
                    plan.target,
                    Proof.of(turns[-1], f"{history.names[agent]} had a turn to speak, and has not named {plan.target}"),
                    Proof.of(plan.committed, f"plan {plan.id} is for {plan.target}, which takes {tried.needs} agents"),
                    Proof.of(plan.ended, f"plan {plan.id} failed: {plan.reason}"),
                    Proof.of(tried.event, there),
                )


def _known(history: History, plan: PlanLife) -> bool:
    """Whether somebody else knows of the task of a plan: a message has named it, or a mate had a plan for it."""
    about = history.about.get(plan.target, ())
    if about and about[0].sent.seq < plan.ended.seq:
        return True
    return any(
        mate.agent != plan.agent
        and mate.committed.seq < plan.ended.seq
        and (mate.end is None or mate.end.seq > plan.committed.seq)
        for mate in history.plans_for[plan.target]
    )

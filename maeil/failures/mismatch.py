"""FM-2.6, reasoning-action mismatch: said one task, planned another."""

from __future__ import annotations

from collections.abc import Iterator

from maeil.failures.failure import Failure, FailureKind, Proof
from maeil.failures.history import History, Said
from maeil.trace.story import PlanLife


def mismatches(history: History) -> Iterator[Failure]:
    """Find the plans that contradict what their agents have said of themselves since the plan before.

    In its last message that says what it takes, the agent names one task, not that of the plan which it has just then.
    Its next plan is for another task of that kind, while the one that it named could be done (`History.at_odds`) and
    was not over. It has read nothing in between: what it read could have changed its mind.
    """
    for agent, plans in history.plans.items():
        before: PlanLife | None = None
        for plan in plans:
            said = _claim(history, plan, before) if plan.own and plan.target else None
            before = plan
            if said is None:
                continue
            named = said.taken[agent]
            if (
                history.at_odds(named, plan.target, plan.committed)
                and history.over(named, plan.committed) is None
                and not history.read_between(agent, said.sent.seq, plan.committed.seq)
            ):
                yield Failure.proven(
                    FailureKind.MISMATCH,
                    agent,
                    named,
                    Proof.of(said.sent, f"{history.names[agent]} says that it does {named}"),
                    Proof.of(plan.committed, f"plan {plan.id} is for {plan.target}"),
                )


def _claim(history: History, plan: PlanLife, before: PlanLife | None) -> Said | None:
    """The last message before a plan that says what its agent takes, but for what it just does."""
    since = before.committed.seq if before is not None else -1
    for said in reversed(history.said_between(plan.agent, since, plan.committed.seq)):
        if plan.agent in said.taken:
            alive = before is not None and (before.end is None or before.end.seq > said.sent.seq)
            same = before is not None and said.taken[plan.agent] == before.target
            return None if alive and same else said
    return None

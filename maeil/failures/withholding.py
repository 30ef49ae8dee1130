"""FM-2.4, information withholding: a mate's plan lacked what somebody knew and did not say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from maeil.failures.failure import Failure, FailureKind, Proof
from maeil.failures.history import History, between
from maeil.trace.events import Stamped
from maeil.trace.story import Attempt, PlanLife


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
    if lack is None or history.heard_of(plan.target, plan.agent, lack.fact.seq, plan.committed.seq):
        return
    for agent in sorted(lack.knowers):
        turns = between(history.speaking.get(agent, ()), lack.fact.seq, plan.thought.seq, lambda turn: turn.seq)
        if turns and (agent, plan.agent) in history.reaches:
            yield Failure.proven(
                FailureKind.WITHHOLDING,
                agent,
                plan.target,
                *lack.proofs,
                Proof.of(turns[-1], f"{history.names[agent]} had a turn to speak, and has not named {plan.target}"),
                Proof.of(plan.committed, f"{history.names[plan.agent]} committed plan {plan.id} for {plan.target}"),
                Proof.of(plan.ended, f"plan {plan.id} failed: {plan.reason}"),
            )


@dataclass(frozen=True, slots=True)
class Lack:
    """What a plan lacked.

    Attributes:
        fact: the event since which it is known.
        knowers: who took part in that event.
        proofs: of the fact, and of what came of the plan without it.
    """

    fact: Stamped
    knowers: frozenset[int]
    proofs: tuple[Proof, ...]


def lack_of(history: History, plan: PlanLife) -> Lack | None:
    """Return what a failed plan lacked: that its target was over, or else why it could not come off."""
    return _closed(history, plan) or _missed(history, plan)


def _closed(history: History, plan: PlanLife) -> Lack | None:
    closure = history.over(plan.target, plan.committed)
    if closure is None:
        return None
    before = _tries(history, plan.target, -1, closure.event.seq)
    last = next((tried for tried in reversed(before) if tried.succeeded), None)
    if last is None or plan.agent in last.agents:
        return None
    proofs = (
        Proof.of(last.event, f"{history.names_of(last.agents)} did {plan.target}"),
        Proof.of(closure.event, f"{plan.target} is over"),
    )
    return Lack(last.event, last.agents, proofs)


def _missed(history: History, plan: PlanLife) -> Lack | None:
    own = history.last_attempt(plan)
    if own is None or own.succeeded:
        return None
    fact: Attempt | None = None
    for one in reversed(_tries(history, plan.target, -1, plan.committed.seq)):
        if one.succeeded:
            break
        if one.task == own.task and one.missing & own.missing:
            if plan.agent in one.agents:
                return None  # it knew
            fact = fact or one
    if fact is None:
        return None
    lacking = ", ".join(sorted(fact.missing & own.missing))
    proofs = (
        Proof.of(fact.event, f"an attempt of {history.names_of(fact.agents)} at {plan.target} was missing: {lacking}"),
        Proof.of(own.event, f"the attempt of {history.names[plan.agent]} was missing the same: {lacking}"),
    )
    return Lack(fact.event, fact.agents, proofs)


def _tries(history: History, target: str, after: int, before: int) -> Sequence[Attempt]:
    return between(history.attempts.get(target, ()), after, before, lambda tried: tried.event.seq)

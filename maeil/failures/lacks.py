"""What a failed plan lacked that somebody knew: that its task is over, or what an attempt at it was missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from maeil.failures.failure import Proof
from maeil.failures.history import History, PlanLife, Tried, between
from maeil.trace.events import Stamped


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
    own = history.last_try(plan)
    if own is None or own.succeeded:
        return None
    fact: Tried | None = None
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


def _tries(history: History, target: str, after: int, before: int) -> Sequence[Tried]:
    return between(history.tried.get(target, ()), after, before, lambda tried: tried.event.seq)

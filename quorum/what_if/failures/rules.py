"""Failures and the rules that find them. Each rule states its exact conditions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from maeil.messages import MessageKind
from maeil.trace.events import MessageSent, Stamped
from maeil.trace.reader import Trace
from maeil.trace.story import Attempt, PlanLife
from quorum.what_if.failures.history import History, Reading, Said, between


class FailureKind(StrEnum):
    """The kinds of failures, in the order of MAST (arXiv 2503.13657, Figure 2)."""

    REPETITION = "repetition"
    TERMINATION = "termination"
    SILENCE = "silence"
    WITHHOLDING = "withholding"
    IGNORED_INPUT = "ignored_input"
    MISMATCH = "mismatch"

    @property
    def mast(self) -> str:
        """Its number in MAST."""
        return _MAST[self]


_MAST = dict(zip(FailureKind, ("FM-1.3", "FM-1.5", "FM-2.2", "FM-2.4", "FM-2.5", "FM-2.6"), strict=True))


@dataclass(frozen=True, slots=True)
class Proof:
    """An event that proves part of a failure.

    Attributes:
        seq: its number in the trace.
        t: environment step.
        words: its meaning for the failure, in words; it may hold text of models.
    """

    seq: int
    t: int
    words: str

    @classmethod
    def of(cls, event: Stamped, words: str) -> Proof:
        """Make a proof of an event."""
        return cls(event.seq, event.t, words)


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure.

    Attributes:
        kind: its kind.
        agent: index of the participant who failed.
        t: environment step of its last proof, when it shows.
        task: target of its task; empty for repeated plans without a task.
        proofs: the events that prove it, in the order of the trace.
    """

    kind: FailureKind
    agent: int
    t: int
    task: str
    proofs: tuple[Proof, ...]

    @classmethod
    def proven(cls, kind: FailureKind, agent: int, task: str, *proofs: Proof) -> Failure:
        """Make a failure from its proofs."""
        ordered = tuple(sorted(proofs, key=lambda proof: proof.seq))
        return cls(kind, agent, ordered[-1].t, task, ordered)

    def to_json(self, agent: str | int) -> dict[str, Any]:
        """Return it as JSON-ready data; `event` is the number of a line in the trace, from 0."""
        proofs = [{"event": proof.seq, "t": proof.t, "words": proof.words} for proof in self.proofs]
        about = {"kind": str(self.kind), "mast": self.kind.mast, "agent": agent, "t": self.t, "task": self.task}
        return {**about, "proofs": proofs}


OF_WORDS = frozenset({FailureKind.IGNORED_INPUT, FailureKind.MISMATCH})
"""The kinds that follow from claims and orders: unknown if messages have only text."""


def find_failures(trace: Trace, judged: Mapping[int, Reading] = MappingProxyType({})) -> tuple[Failure, ...]:
    """Find the failures that a complete or partial trace proves, in the order in which they show.

    Args:
        trace: the trace.
        judged: a judge's readings of messages, by message number; they replace the fields.
    """
    history = History(trace, judged)
    rules = (repetitions, terminations, silences, withholdings, ignored_inputs, mismatches)
    found = [failure for rule in rules for failure in rule(history)]
    return tuple(sorted(found, key=lambda failure: failure.proofs[-1].seq))


def text_alone(trace: Trace) -> tuple[int, ...]:
    """Return the numbers of the messages without typed fields: only a judge can read their claims and orders."""
    return tuple(message.message for message in trace.of(MessageSent) if message.asks is None)


_NUMBER = re.compile(r"\d+(\.\d+)?")


def repetitions(history: History) -> Iterator[Failure]:
    """FM-1.3, step repetition: find the plans that repeat the previous plan of their agent.

    A plan failed, and the next plan of its agent has the same task and actions. No step was taken in between, so the
    state is the one in which the first one failed. In between, the agent read nothing about its task, and no mate
    committed a plan for it. And the plan failed again, at the same action, for the same reason (ignoring numbers).
    """
    for first, again in history.successive_plans():
        if first is not None and _repeats(first, again) and _nothing_new(history, first, again):
            yield Failure.proven(
                FailureKind.REPETITION,
                again.agent,
                again.target,
                Proof.of(first.ended, f"plan {first.id} failed: {first.reason}"),
                Proof.of(again.committed, f"plan {again.id} is the same, and no step was taken in between"),
                Proof.of(again.ended, f"plan {again.id} failed: {again.reason}"),
            )


def _repeats(first: PlanLife, again: PlanLife) -> bool:
    return (
        first.failed
        and again.failed
        and first.own
        and again.own
        and again.committed.t == first.ended.t
        and (first.content.task, first.content.actions) == (again.content.task, again.content.actions)
        and (first.stopped_at, _NUMBER.sub("", first.reason)) == (again.stopped_at, _NUMBER.sub("", again.reason))
    )


def _nothing_new(history: History, first: PlanLife, again: PlanLife) -> bool:
    begin, end = first.ended.seq, again.committed.seq
    mates = between(history.plans_for.get(again.target, ()), begin, end, lambda plan: plan.committed.seq)
    return not mates and not any(
        again.target in said.named or history.text.mentions(said.message.content, again.agent)
        for _, said in history.read_between(again.agent, begin, end)
    )


def terminations(history: History) -> Iterator[Failure]:
    """FM-1.5, unaware of termination: find the plans for tasks that were already over.

    A committed plan counts if it failed and no participant withheld the end of the task from its agent: that would be
    the other participant's failure. A refused plan counts if the world's reasons name a task that is over, once per
    step, agent and task.
    """
    for _, plan in history.successive_plans():
        closure = history.over(plan.target, plan.committed) if plan.failed and plan.own else None
        if closure is not None and not any(_withheld_from(history, plan)):
            yield Failure.proven(
                FailureKind.TERMINATION,
                plan.agent,
                plan.target,
                Proof.of(closure.event, f"{plan.target} is over"),
                Proof.of(plan.committed, f"plan {plan.id} is for {plan.target}"),
                Proof.of(plan.ended, f"plan {plan.id} failed: {plan.reason}"),
            )
    known: set[tuple[int, int, str]] = set()
    for thought, end in history.refused:
        named = ((target, why) for why in thought.without_effect for target in sorted(history.text.named(why)))
        for target, reason in named:
            closure = history.over(target, end)
            if closure is not None and (thought.agent, end.t, target) not in known:
                known.add((thought.agent, end.t, target))
                yield Failure.proven(
                    FailureKind.TERMINATION,
                    thought.agent,
                    target,
                    Proof.of(closure.event, f"{target} is over"),
                    Proof.of(end, f"a plan was refused: {reason}"),
                )


def silences(history: History) -> Iterator[Failure]:
    """FM-2.2, fail to ask for clarification: find the plans that failed for lack of mates that no message asked for.

    The last attempt of a failed plan (a wait in vain counts) had fewer agents than its task needs. Since the previous
    plan ended, its agent had a turn to speak. Until the plan failed, no message had named the task. And no mate had a
    plan for the task meanwhile: a mate with such a plan knows about it.
    """
    for before, plan in history.successive_plans():
        tried = history.last_attempt(plan) if plan.failed and plan.own and plan.target else None
        if tried is None or tried.succeeded or len(tried.agents) >= tried.needs or _known(history, plan):
            continue
        since = before.ended.seq if before is not None else -1
        if turns := between(history.speaking.get(plan.agent, ()), since, plan.ended.seq, lambda turn: turn.seq):
            yield Failure.proven(
                FailureKind.SILENCE,
                plan.agent,
                plan.target,
                Proof.of(turns[-1], history.said_nothing_of(plan.target, plan.agent)),
                Proof.of(plan.committed, f"plan {plan.id} is for {plan.target}, which takes {tried.needs} agents"),
                Proof.of(plan.ended, f"plan {plan.id} failed: {plan.reason}"),
                Proof.of(tried.event, f"{len(tried.agents)} of {tried.needs} agents were there"),
            )


def _known(history: History, plan: PlanLife) -> bool:
    """Whether another agent knows about the task of a plan: a message named it, or a mate had a plan for it."""
    about = history.about.get(plan.target, ())
    if about and about[0].sent.seq < plan.ended.seq:
        return True
    return any(
        mate.agent != plan.agent
        and mate.committed.seq < plan.ended.seq
        and (mate.end is None or mate.end.seq > plan.committed.seq)
        for mate in history.plans_for[plan.target]
    )


def withholdings(history: History) -> Iterator[Failure]:
    """FM-2.4, information withholding: find the participants that withheld information from plans that failed.

    A plan failed because its task was over when it was committed, or because its attempt lacked the same as an earlier
    attempt at the same task without its agent. The participants in that event know about it. One of them had a turn to
    speak after it, which ended before the thought of the plan began. It can reach the plan's agent (some message of the
    trace goes from the one to the other). And no message to the plan's agent has named the task since.
    """
    for _, plan in history.successive_plans():
        yield from _withheld_from(history, plan)


def _withheld_from(history: History, plan: PlanLife) -> Iterator[Failure]:
    """Find the participants that withheld from a plan's agent what the plan lacked."""
    if not (plan.failed and plan.own and plan.target and plan.thought):
        return
    lack = _closed(history, plan) or _missed(history, plan)
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
                Proof.of(turns[-1], history.said_nothing_of(plan.target, agent)),
                Proof.of(plan.committed, f"{history.names[plan.agent]} committed plan {plan.id} for {plan.target}"),
                Proof.of(plan.ended, f"plan {plan.id} failed: {plan.reason}"),
            )


@dataclass(frozen=True, slots=True)
class _Lack:
    """The information that a plan lacked.

    Attributes:
        fact: the event since which it is known.
        knowers: participants in that event.
        proofs: proofs of the fact, and of its consequence for the plan.
    """

    fact: Stamped
    knowers: frozenset[int]
    proofs: tuple[Proof, ...]


def _closed(history: History, plan: PlanLife) -> _Lack | None:
    """Return the lack that the target of a plan was over."""
    closure = history.over(plan.target, plan.committed)
    if closure is None:
        return None
    before = _tries(history, plan.target, closure.event.seq)
    last = next((tried for tried in reversed(before) if tried.succeeded), None)
    if last is None or plan.agent in last.agents:
        return None
    proofs = (
        Proof.of(last.event, f"{history.names_of(last.agents)} did {plan.target}"),
        Proof.of(closure.event, f"{plan.target} is over"),
    )
    return _Lack(last.event, last.agents, proofs)


def _missed(history: History, plan: PlanLife) -> _Lack | None:
    """Return the lack that made a plan fail as an earlier attempt had."""
    own = history.last_attempt(plan)
    if own is None or own.succeeded:
        return None
    fact: Attempt | None = None
    for one in reversed(_tries(history, plan.target, plan.committed.seq)):
        if one.succeeded:
            break
        if one.task == own.task and not set(one.missing).isdisjoint(own.missing):
            if plan.agent in one.agents:
                return None  # the agent knew it
            fact = fact or one
    if fact is None:
        return None
    lacking = ", ".join(constraint for constraint in own.missing if constraint in fact.missing)
    proofs = (
        Proof.of(fact.event, f"an attempt of {history.names_of(fact.agents)} at {plan.target} was missing: {lacking}"),
        Proof.of(own.event, f"the attempt of {history.names[plan.agent]} was missing the same: {lacking}"),
    )
    return _Lack(fact.known, fact.agents, proofs)


def _tries(history: History, target: str, before: int) -> Sequence[Attempt]:
    return between(history.attempts.get(target, ()), -1, before, lambda tried: tried.known.seq)


def ignored_inputs(history: History) -> Iterator[Failure]:
    """FM-2.5, ignored other agent's input: find the plans against orders that were read since the previous plan.

    The last directive about the agent that it read names one task for it. Its plan is for another task of that kind,
    although the ordered one could be done (`History.at_odds`) and was not over. It had not said that it takes the task
    of the plan. And nothing else that it read is a reason: no message of others since the previous plan, and no message
    after the orders, names one of the two tasks or the agent itself.
    """
    for before, plan in history.successive_plans():
        since = before.committed.seq if before is not None else -1
        found = _orders(history, plan, since) if plan.own and plan.target else None
        if found is not None and _contradicts(history, plan, since, *found):
            read, orders = found
            name, wanted = history.names[plan.agent], orders.taken[plan.agent]
            yield Failure.proven(
                FailureKind.IGNORED_INPUT,
                plan.agent,
                wanted,
                Proof.of(orders.sent, f"{history.names[orders.message.sender]} orders {name} to do {wanted}"),
                Proof.of(read, f"{name} reads it"),
                Proof.of(plan.committed, f"plan {plan.id} is for {plan.target}"),
            )


def _orders(history: History, plan: PlanLife, since: int) -> tuple[Stamped, Said] | None:
    for read, said in reversed(history.read_between(plan.agent, since, plan.committed.seq)):
        if said.message.what == MessageKind.DIRECTIVE and plan.agent in said.taken:
            return read, said
    return None


def _contradicts(history: History, plan: PlanLife, since: int, read: Stamped, orders: Said) -> bool:
    agent, wanted, end = plan.agent, orders.taken[plan.agent], plan.committed
    if not history.at_odds(wanted, plan.target, end) or history.over(wanted, end) is not None:
        return False
    if any(said.taken.get(agent) == plan.target for said in history.said_between(agent, read.seq, end.seq)):
        return False
    return not any(
        (at.seq > read.seq or said.message.sender != orders.message.sender)
        and (wanted in said.named or plan.target in said.named or history.text.mentions(said.message.content, agent))
        for at, said in history.read_between(agent, since, end.seq)
    )


def mismatches(history: History) -> Iterator[Failure]:
    """FM-2.6, reasoning-action mismatch: find the plans that contradict what their agents said about themselves.

    In its last message since the previous plan that claims a task, the agent names one task, other than that of its
    current plan. Its next plan is for another task of that kind, although the named one could be done
    (`History.at_odds`) and was not over. The agent read nothing in between, which could have changed its mind.
    """
    for before, plan in history.successive_plans():
        said = _claim(history, plan, before) if plan.own and plan.target else None
        if said is None:
            continue
        named = said.taken[plan.agent]
        if (
            history.at_odds(named, plan.target, plan.committed)
            and history.over(named, plan.committed) is None
            and not history.read_between(plan.agent, said.sent.seq, plan.committed.seq)
        ):
            yield Failure.proven(
                FailureKind.MISMATCH,
                plan.agent,
                named,
                Proof.of(said.sent, f"{history.names[plan.agent]} says that it does {named}"),
                Proof.of(plan.committed, f"plan {plan.id} is for {plan.target}"),
            )


def _claim(history: History, plan: PlanLife, before: PlanLife | None) -> Said | None:
    """Return the last message before a plan with a claim of its agent, unless it describes the current plan."""
    since = before.committed.seq if before is not None else -1
    for said in reversed(history.said_between(plan.agent, since, plan.committed.seq)):
        if plan.agent in said.taken:
            alive = before is not None and (before.end is None or before.end.seq > said.sent.seq)
            same = before is not None and said.taken[plan.agent] == before.target
            return None if alive and same else said
    return None

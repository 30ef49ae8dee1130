"""FM-1.3, step repetition: the same failed plan again, in the same state."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from maeil.failures.failure import Failure, FailureKind, Proof
from maeil.failures.history import History, between
from maeil.trace.story import PlanLife

_NUMBER = re.compile(r"\d+(\.\d+)?")


def repetitions(history: History) -> Iterator[Failure]:
    """Find the plans that repeat the one before them.

    A plan failed, and the next plan of its agent has the same task and actions. No step was taken in between, so the
    state is the one in which the first one failed. Nothing was heard of its task in between, and no mate has committed
    a plan for it. And it failed again, at the same action, for the same reason (but for numbers).
    """
    for agent, plans in history.plans.items():
        for first, again in pairwise(plans):
            if _repeats(first, again) and _nothing_new(history, first, again):
                yield Failure.proven(
                    FailureKind.REPETITION,
                    agent,
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
    return not mates and not history.news(again.agent, begin, end, again.target)

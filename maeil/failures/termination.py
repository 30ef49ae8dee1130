"""FM-1.5, unaware of termination: a plan for a task that is over."""

from __future__ import annotations

from collections.abc import Iterator

from maeil.failures.failure import Failure, FailureKind, Proof
from maeil.failures.history import History
from maeil.failures.withholding import withheld_from


def terminations(history: History) -> Iterator[Failure]:
    """Find the plans for tasks that were over when they were committed, or proposed to the world.

    A committed plan counts when it has failed, and when nobody has withheld from its agent what has happened: that is
    the failure of the other one. A refused one counts when the world's reasons name a task that is over, once a step
    for each agent and task.
    """
    for plans in history.plans.values():
        for plan in plans:
            closure = history.over(plan.target, plan.committed) if plan.failed and plan.own else None
            if closure is not None and not any(withheld_from(history, plan)):
                yield Failure.proven(
                    FailureKind.TERMINATION,
                    plan.agent,
                    plan.target,
                    Proof.of(closure.event, f"{plan.target} is over"),
                    Proof.of(plan.committed, f"plan {plan.id} is for {plan.target}"),
                    Proof.of(plan.ended, f"plan {plan.id} failed: {plan.reason}"),
                )
    yield from _refused(history)


def _refused(history: History) -> Iterator[Failure]:
    for agent, thoughts in history.refused.items():
        known: set[tuple[int, str]] = set()
        for thought in thoughts:
            assert thought.end is not None
            for reason in thought.without_effect:
                for target in sorted(history.text.named(reason)):
                    closure = history.over(target, thought.end)
                    if closure is not None and (thought.end.t, target) not in known:
                        known.add((thought.end.t, target))
                        yield Failure.proven(
                            FailureKind.TERMINATION,
                            agent,
                            target,
                            Proof.of(closure.event, f"{target} is over"),
                            Proof.of(thought.end, f"a plan was refused: {reason}"),
                        )

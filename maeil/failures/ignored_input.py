"""FM-2.5, ignored other agent's input: orders that were read, and not followed."""

from __future__ import annotations

from collections.abc import Iterator

from maeil.failures.failure import Failure, FailureKind, Proof
from maeil.failures.history import History, Said
from maeil.messages import MessageKind
from maeil.trace.events import Stamped
from maeil.trace.story import PlanLife


def ignored_inputs(history: History) -> Iterator[Failure]:
    """Find the plans that contradict orders which their agents had read since the plan before.

    The last directive about the agent that it has read names one task for it. Its plan is for another task of that
    kind, while the ordered one could be done (`History.at_odds`) and was not over. It has not said before that it takes
    the one that it plans. And nothing else that it has read is a reason: no message of others since the plan before,
    and none after the orders, names one of the two tasks or the agent itself.
    """
    for agent, plans in history.plans.items():
        since = -1
        for plan in plans:
            found = _orders(history, plan, since) if plan.own and plan.target else None
            if found is not None and _contradicts(history, plan, since, *found):
                read, orders = found
                yield Failure.proven(
                    FailureKind.IGNORED_INPUT,
                    agent,
                    orders.taken[agent],
                    Proof.of(
                        orders.sent,
                        f"{history.names[orders.message.sender]} orders {history.names[agent]} to do"
                        f" {orders.taken[agent]}",
                    ),
                    Proof.of(read, f"{history.names[agent]} reads it"),
                    Proof.of(plan.committed, f"plan {plan.id} is for {plan.target}"),
                )
            since = plan.committed.seq


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

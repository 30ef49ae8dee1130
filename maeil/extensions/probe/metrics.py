"""What agents believed when they were probed, scored against the state and the record.

Defined here: docs/probes.md. A choice of `unknown` counts as an answer that is not right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from maeil.extensions.probe.events import Belief
from maeil.extensions.probe.facts import UNKNOWN
from maeil.metrics.registry import Value, metric
from maeil.metrics.statistics import mean
from maeil.trace.reader import Trace

probe_metric = partial(metric, of=Belief)


def accuracy(beliefs: Iterable[Belief]) -> float | None:
    """Return right answers / answers; None without any."""
    return mean([one.answer == one.truth for one in beliefs])


@probe_metric("probe.answers", "answers")
def answers(trace: Trace) -> Value:
    """Questions that agents answered when they were asked what they believe."""
    return len(trace.stamped(Belief))


@probe_metric("probe.accuracy", better="higher", rate=True)
def overall(trace: Trace) -> Value:
    """Right answers / answers."""
    return accuracy(trace.of(Belief))


@probe_metric("probe.unknown", rate=True)
def unknown(trace: Trace) -> Value:
    """Answers that choose `unknown` / answers."""
    return mean([one.answer == UNKNOWN for one in trace.of(Belief)])


@probe_metric("probe.chance", rate=True)
def chance(trace: Trace) -> Value:
    """The expected accuracy of a draw from the choices of each question but `unknown`: mean of 1 / choices."""
    return mean([1 / one.choices for one in trace.of(Belief)])


@probe_metric("probe.lowest", better="higher", rate=True)
def lowest(trace: Trace) -> Value:
    """Right answers / answers of the agent in whom this is lowest."""
    found = list(trace.of(Belief))
    by_agent = [accuracy(one for one in found if one.agent == agent) for agent in {one.agent for one in found}]
    return min((share for share in by_agent if share is not None), default=None)


def _share(name: str, what: str, of: Callable[[Belief], bool]) -> None:
    def share(trace: Trace) -> Value:
        return accuracy(one for one in trace.of(Belief) if of(one))

    probe_metric(f"probe.{name}", better="higher", rate=True, doc=f"Right answers / answers about {what}.")(share)


_share("state", "the states of tasks", lambda one: one.fact == "state")
_share("place", "the places of things", lambda one: one.fact == "place")
_share("plan", "the plans of teammates", lambda one: one.fact == "plan")
_share("message", "what teammates have named in messages", lambda one: one.fact == "message")
_share("untold", "facts that no message brought to the agent", lambda one: one.hop is None)
_share("hop_1", "facts that came in a message of their source", lambda one: one.hop == 1)
_share("hop_2", "facts that came by way of one other agent: in 2 messages", lambda one: one.hop == 2)
_share("hop_3", "facts that travelled 3 or more messages", lambda one: one.hop is not None and one.hop > 2)

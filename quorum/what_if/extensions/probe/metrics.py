"""Beliefs of agents in probes, scored against the state and the record.

Defined here: docs/probes.md. The choice `unknown` counts as a wrong answer.
"""

from __future__ import annotations

from collections.abc import Callable

from maeil.metrics.registry import Value, metric
from maeil.metrics.statistics import mean
from maeil.trace.reader import Trace
from quorum.what_if.extensions.probe.events import Belief
from quorum.what_if.extensions.probe.facts import UNKNOWN


@metric("probe.answers", "answers", of=Belief)
def answers(trace: Trace) -> Value:
    """Questions about their beliefs that agents answered."""
    return len(trace.stamped(Belief))


@metric("probe.unknown", rate=True, of=Belief)
def unknown(trace: Trace) -> Value:
    """Answers that choose `unknown` / answers."""
    return mean([one.answer == UNKNOWN for one in trace.of(Belief)])


@metric("probe.chance", rate=True, of=Belief)
def chance(trace: Trace) -> Value:
    """The expected accuracy of a draw from the choices of each question but `unknown`: mean of 1 / choices."""
    return mean([1 / one.choices for one in trace.of(Belief)])


def _right(name: str, about: str, of: Callable[[Belief], bool]) -> None:
    def share(trace: Trace) -> Value:
        return mean([one.answer == one.truth for one in trace.of(Belief) if of(one)])

    metric(f"probe.{name}", better="higher", rate=True, doc=f"Right answers / answers{about}.", of=Belief)(share)


_right("accuracy", "", lambda _: True)
_right("state", " about the states of tasks", lambda one: one.fact == "state")
_right("place", " about the places of things", lambda one: one.fact == "place")
_right("plan", " about the plans of teammates", lambda one: one.fact == "plan")
_right("message", " about what teammates have named in messages", lambda one: one.fact == "message")
_right("untold", " about facts that no message brought to the agent", lambda one: one.hop is None)
_right("hop_1", " about facts that came in a message of their source", lambda one: one.hop == 1)
_right("hop_2", " about facts that came by way of one other agent: in 2 messages", lambda one: one.hop == 2)
_right("hop_3", " about facts that travelled 3 or more messages", lambda one: one.hop is not None and one.hop > 2)

"""Failures of teams, by rule (`quorum.what_if.failures`): the kinds of MAST (arXiv 2503.13657) that a trace proves."""

from __future__ import annotations

from functools import partial

from maeil.metrics.registry import Value, metric
from maeil.metrics.statistics import ratio
from maeil.trace.reader import Trace, shared
from quorum.what_if.failures import OF_WORDS, Failure, FailureKind, find_failures, text_alone


@shared
def _failures(trace: Trace) -> tuple[Failure, ...]:
    return find_failures(trace)


@shared
def _unread(trace: Trace) -> bool:
    return bool(text_alone(trace))


def _number(kind: FailureKind, trace: Trace) -> Value:
    if kind in OF_WORDS and _unread(trace):
        return None
    return sum(failure.kind is kind for failure in _failures(trace))


_DOCS = {
    FailureKind.REPETITION: "Failed plans that were committed again in the same state, and failed again",
    FailureKind.TERMINATION: "Plans for tasks that were over",
    FailureKind.SILENCE: "Plans that failed for lack of teammates, and nobody had asked for help",
    FailureKind.WITHHOLDING: "Facts that an agent knew and did not say, and for which a teammate's plan failed",
    FailureKind.IGNORED_INPUT: "Plans against orders that the agent had read",
    FailureKind.MISMATCH: "Plans for a task other than the one that the agent had named",
}
_UNKNOWN = "; None if a message states its claims and requests only as text"
for _kind, _doc in _DOCS.items():
    metric(
        f"failure.{_kind}",
        "failures",
        better="lower",
        title=str(_kind).replace("_", " "),
        doc=f"{_doc} (MAST {_kind.mast}){_UNKNOWN if _kind in OF_WORDS else ''}.",
    )(partial(_number, _kind))


@metric("failure.number", "failures", better="lower", title="failures by rule")
def number(trace: Trace) -> Value:
    """All failures that the rules find; None if a message has only text, so that its claims and orders are unknown."""
    return len(_failures(trace)) if not _unread(trace) else None


@metric("failure.per_plan", better="lower", title="failures a plan")
def per_plan(trace: Trace) -> Value:
    """Failures that the rules find / plans committed; None without plans, or if the number of failures is unknown."""
    return ratio(len(_failures(trace)), len(trace.story.plans)) if not _unread(trace) else None

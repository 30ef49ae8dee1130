"""What was wrong with a decision, in a word: by the rules of failures, else by how the reference decided otherwise."""

from __future__ import annotations

from collections.abc import Sequence

from maeil.failures import Failure
from quorum.experiments.blame.decisions import Choice, Decision

WORDS = {
    "no_answer": "gave no valid answer",
    "gave_up": "gave up a plan that was to be carried on",
    "went_on": "went on with a plan that was to be given up",
    "idle": "did nothing",
    "other_task": "took on another task",
    "other_actions": "took other actions for the same task",
    "silent": "said nothing",
    "needless_message": "said what was not to be said",
    "other_message": "said something else",
    "repetition": "did again what had failed",
    "termination": "planned for what was over",
    "silence": "asked nobody for help",
    "withholding": "withheld what it knew",
    "ignored_input": "ignored an order that it had read",
    "mismatch": "planned something else than it had said",
}
"""What a kind means, said of the agent. The last six are kinds of failures (docs/failures.md)."""


def kind_of(decision: Decision, failures: Sequence[Failure], agents: Sequence[str], idle: str) -> str:
    """Name what was wrong with a decision.

    Args:
        decision: that the reference would have made otherwise.
        failures: those that the trace of the run proves.
        agents: names of the participants by index.
        idle: name of the action of doing nothing.
    """
    index = list(agents).index(decision.agent)
    shown = (one for one in failures if one.agent == index and one.t == decision.t)
    if (failure := next(shown, None)) is not None:
        return str(failure.kind)
    return difference(decision, idle)


def difference(decision: Decision, idle: str) -> str:
    """Name how the reference would have decided otherwise; empty where it would not.

    Args:
        decision: by both.
        idle: name of the action of doing nothing.
    """
    if decision.planned_otherwise:
        return _plans(decision.own, decision.other, idle)
    if not decision.said_otherwise:
        return ""
    if not decision.own.says:
        return "silent"
    return "other_message" if decision.other.says else "needless_message"


def _plans(own: Choice, other: Choice, idle: str) -> str:
    if own.failure or (own.actions is None and not own.resumes):
        return "no_answer"
    if other.resumes:
        return "gave_up"
    if own.resumes:
        return "went_on"
    if all(action.get("action") == idle for action in own.actions or ()):
        return "idle"
    return "other_actions" if own.task == other.task else "other_task"

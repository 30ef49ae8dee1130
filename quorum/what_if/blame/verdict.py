"""The verdict of a method on a run: who made it fail, when, and how probable that is. Also the method of rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from maeil.trace import Trace
from quorum.what_if.blame.posterior import Tally, gain
from quorum.what_if.failures import find_failures

RULES = "rules"
LATE = "late"
"""The kind of a verdict on a run that would have finished later: no agent is to blame."""


@dataclass(frozen=True, slots=True)
class Blamed:
    """A decision in a verdict.

    Attributes:
        agent: name of the participant.
        t: environment step.
        t_hat: cognitive time at which its thought started.
        kind: the kind of mistake.
    """

    agent: str
    t: int
    t_hat: int | float
    kind: str

    def __str__(self) -> str:
        return f"{self.agent} at {self.t}:{self.t_hat:g}"


@dataclass(frozen=True, slots=True)
class Cause:
    """A possible cause of a failure: one decision, or several together.

    Attributes:
        decisions: in the order of time.
        probability: probability that it is the cause.
        corrected: successes of re-runs with the decisions of the reference.
        placebo: successes of re-runs with a change that keeps the intent.
        command: plays the correction.
    """

    decisions: tuple[Blamed, ...]
    probability: float
    corrected: Tally
    placebo: Tally
    command: str

    @property
    def gain(self) -> tuple[float, float]:
        """The 95 % interval of the correction's gain in success probability."""
        return gain(self.corrected, self.placebo)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data, with the values of its first decision at the top."""
        first, *others = (_plain(one) for one in self.decisions)
        arms = {"corrected": _plain(self.corrected), "placebo": _plain(self.placebo), "gain": list(self.gain)}
        return {**_plain(self), **first, "decisions": [first, *others], **arms}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of a method on a run.

    Attributes:
        method: name of the method.
        agent: name of the participant with the decisive mistake; None: the method names no participant.
        t: environment step of the decision; None: the method names none.
        t_hat: cognitive time at which its thought started; None: the method names none.
        kind: the kind of mistake; empty if the method does not say.
        probability: probability that this answer is right; None if the method gives none, or names no decision: the
            probability of none also covers mistakes that the reference would have made as well.
        causes: the posterior: each cause that was tried, the most probable first.
        agents: probability that the cause is decisions of this agent alone, including untried ones.
        nobody: probability that the cause is nothing that was tried; None if the method gives none, or a budget ended
            the search.
        untried: number of untried decisions.
        unknown: their probability.
        reruns: number of episodes played for it.
        calls: number of answers of language models for it.
        reason: why, in a sentence; it may be untrusted text of a language model.
    """

    method: str
    agent: str | None
    t: int | None
    t_hat: int | float | None = None
    kind: str = ""
    probability: float | None = None
    causes: tuple[Cause, ...] = ()
    agents: Mapping[str, float] = field(default_factory=dict)
    nobody: float | None = None
    untried: int = 0
    unknown: float = 0.0
    reruns: int = 0
    calls: int = 0
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {**_plain(self), "causes": [cause.to_json() for cause in self.causes]}


def _plain(data: Any) -> Mapping[str, Any]:
    return {field.name: getattr(data, field.name) for field in fields(data)}


def by_rules(trace: Trace) -> Verdict:
    """Name the failure whose first proof comes first, of the kinds that a trace proves. Needs no model and no re-run.

    A failure shows at its last proof, but the decision in question is the one where it began.

    Args:
        trace: the trace of the run.
    """
    team = (*trace.start.agents, *trace.start.coordinators)
    found = min(find_failures(trace), key=lambda failure: failure.proofs[0].seq, default=None)
    if found is None:
        return Verdict(RULES, None, None, reason="the trace proves no failure of a known kind")
    first = found.proofs[0]
    return Verdict(RULES, team[found.agent], first.t, kind=str(found.kind), reason=first.words)

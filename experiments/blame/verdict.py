"""The verdict of a method on a run: who made it fail, when, and how sure the method is. And the method of rules."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from maeil.failures import find_failures
from maeil.trace import Trace

RULES = "rules"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of a method on a run.

    Attributes:
        method: name of the method.
        agent: name of the participant with the decisive mistake; None: the method names nobody.
        t: environment step of the decision; None: the method names none.
        t_hat: cognitive time at which its thought started; None: the method names none.
        kind: what was wrong, in a word; empty if the method does not say.
        confidence: of the method, from 0 to 1; None if it has none.
        reruns: episodes that were played for it.
        calls: answers of language models that were asked for it.
        reason: why, in a sentence; it may be untrusted text of a language model.
    """

    method: str
    agent: str | None
    t: int | None
    t_hat: int | float | None = None
    kind: str = ""
    confidence: float | None = None
    reruns: int = 0
    calls: int = 0
    reason: str = ""

    def plain(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return asdict(self)


def by_rules(trace: Trace) -> Verdict:
    """Name the failure, of the kinds that a trace proves, whose first proof comes first. This asks and plays nothing.

    A failure is found at its last proof, but the decision in question is the one where it began.

    Args:
        trace: of the run.
    """
    team = (*trace.start.agents, *trace.start.coordinators)
    found = min(find_failures(trace), key=lambda failure: failure.proofs[0].seq, default=None)
    if found is None:
        return Verdict(RULES, None, None, reason="the trace proves no failure of a known kind")
    first = found.proofs[0]
    return Verdict(RULES, team[found.agent], first.t, kind=str(found.kind), reason=first.words)

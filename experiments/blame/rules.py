"""Attribution by the kinds of failures that a trace proves by rule: nothing is asked, and nothing played again."""

from __future__ import annotations

from maeil.failures import find_failures
from maeil.trace import Trace
from quorum.experiments.blame.verdict import Verdict

RULES = "rules"


def by_rules(trace: Trace) -> Verdict:
    """Return the failure whose first proof comes first, with its agent, and the step of that proof.

    A failure shows with its last proof. What is looked for is the decision that it began with, so its first one counts.

    Args:
        trace: of the run.
    """
    team = (*trace.start.agents, *trace.start.coordinators)
    found = min(find_failures(trace), key=lambda failure: failure.proofs[0].seq, default=None)
    if found is None:
        return Verdict(RULES, None, None, reason="the trace proves no failure of a known kind")
    first = found.proofs[0]
    return Verdict(RULES, team[found.agent], first.t, kind=str(found.kind), reason=first.words)

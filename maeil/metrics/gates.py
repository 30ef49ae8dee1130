"""What was found wrong with joint plans before they were carried out: by rules (LLaMAC), or by agents (HMAS-2).

A mind whose plans are judged notes in the record of a call (`Call.record`) what came of its answer. The keys read here,
all optional:

| key | value |
|---|---|
| `role` | in which role the model was asked; for feedback on a plan: `actor` (LLaMAC), `reviewer` (HMAS-2) |
| `rejections` | list of `{"code", "constraint", "agents"}`: the rules broken, and what they stand for |
| `on_feedback` | whether it was asked because agents had objected |
| `repaired` | agents whose plans were dropped because all retries were used up |

A team whose plans nobody judges has 0 of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from maeil.metrics.model import calls_of
from maeil.metrics.registry import Value, metric
from maeil.trace.events import ThoughtEnd
from maeil.trace.reader import Trace

ACTORS = frozenset({"actor", "reviewer"})


def _rejections(trace: Trace) -> Iterator[Mapping[str, Any]]:
    return (rejection for call in calls_of(trace) for rejection in call.get("rejections", ()))


@metric("gates.rejections", "rejections")
def rejections(trace: Trace) -> Value:
    """Rules that plans broke, each counted as often as it was found broken."""
    return sum(1 for _ in _rejections(trace))


@metric("gates.rejected_proposals", "calls")
def rejected_proposals(trace: Trace) -> Value:
    """Calls for a joint plan whose answer did not pass: the retries of a planner, but for the last one of a failure."""
    return sum(1 for call in calls_of(trace) if call.get("rejections") and call.get("role") not in ACTORS)


@metric("gates.actor_calls", "calls")
def actor_calls(trace: Trace) -> Value:
    """Calls of agents for feedback on their part: when it failed its confirmation (LLaMAC), or always (HMAS-2)."""
    return sum(1 for call in calls_of(trace) if call.get("role") in ACTORS)


@metric("gates.feedback_rounds", "rounds")
def feedback_rounds(trace: Trace) -> Value:
    """Thoughts in which a coordinator planned anew on feedback (LLaMAC, external feedback; HMAS-2, objections)."""
    return sum(any(call.get("on_feedback") for call in thought.calls) for thought in trace.of(ThoughtEnd))


@metric("gates.repaired_plans", "plans")
def repaired_plans(trace: Trace) -> Value:
    """Plans that were dropped because they did not go with others and all retries were used up."""
    return sum(len(call.get("repaired", ())) for call in calls_of(trace))

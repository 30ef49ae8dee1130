"""A team none of whose plans was ever valid: how often it was refused, and why."""

from __future__ import annotations

from collections import Counter

from maeil.trace import Trace
from maeil.trace.events import PlanChange, ThoughtEnd


def never_valid(trace: Trace) -> str:
    """Say in a sentence why no plan of an episode took effect; empty where one did, or where nothing was refused."""
    if any(plan.status == "committed" and not plan.flag for plan in trace.of(PlanChange)):
        return ""
    thoughts = list(trace.of(ThoughtEnd))
    reasons = Counter(reason for thought in thoughts for reason in thought.refused)
    if not reasons:
        return ""
    refused = sum(bool(thought.refused) for thought in thoughts)
    (most, times), *others = reasons.most_common()
    rest = (
        f"; {len(others)} other reason{'s' if len(others) > 1 else ''}, {sum(n for _, n in others)} times"
        if others
        else ""
    )
    return (
        f"no plan was ever valid: {refused} of {len(thoughts)} thoughts were refused. "
        f"The most frequent reason, {times} times: {most}{rest}"
    )

"""Metrics of the interaction graph (DIG to Heal, arXiv 2603.00309): reactions to messages, and cooperation failures.

The patterns are the published ones, adapted to the loop; see `maeil.dig.patterns` for the rules and the numbers.
"""

from __future__ import annotations

from functools import partial

from maeil.dig.graph import Reaction, reaction_counts
from maeil.dig.patterns import Analysis, Pattern, analyse
from maeil.metrics.registry import Value, metric
from maeil.metrics.statistics import ratio
from maeil.trace.reader import Trace, shared


@shared
def interaction(trace: Trace) -> Analysis:
    """Return the interaction graph of a trace, and the failures in it."""
    return analyse(trace)


def _share(reaction: Reaction, trace: Trace) -> Value:
    counts = reaction_counts(interaction(trace).graph.messages)
    read = sum(count for one, count in counts.items() if one is not Reaction.PENDING)
    return ratio(counts[reaction], read) if read else None


for _reaction, _doc in (
    (Reaction.CONSUME, "Messages taken up by a plan or an answer / messages read, counted once per recipient."),
    (Reaction.DISCARD, "Messages neither taken up nor passed on / messages read, counted once per recipient."),
):
    metric(f"dig.{_reaction.value}_share", rate=True, doc=_doc)(partial(_share, _reaction))


def _count(pattern: Pattern, trace: Trace) -> Value:
    return sum(found.pattern is pattern for found in interaction(trace).findings)


for _pattern, _unit, _doc in (
    (Pattern.ORPHAN, "messages", "Messages at least 5 steps old that every recipient discarded or passed on."),
    (Pattern.EXCESSIVE_REROUTING, "messages", "Messages that more than 2 agents passed on, one after the other."),
    (Pattern.REPEATED_EFFORT, "times", "More agents that took up the same message work on a task than it needs."),
    (
        Pattern.MISSING_DEPENDENCY,
        "plans",
        "Plans for which agents equally far back (at most 10 thoughts) asked for different things.",
    ),
    (
        Pattern.INCOMPLETE_COVERAGE,
        "plans",
        "Plans started for a task that needs more agents than the author had heard of since its last plan ended.",
    ),
    (Pattern.MISSED_SUBMISSION, "tasks", "Tasks that enough agents know were asked for, but on which no agent works."),
    (Pattern.DEADLOCK, "times", "More than 40 steps without a goal, a successful attempt or a successful plan."),
):
    metric(f"dig.{_pattern.value}", _unit, better="lower", doc=_doc)(partial(_count, _pattern))

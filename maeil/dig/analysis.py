"""The interaction graph of a trace, whole or a prefix, with the failures that were found in it."""

from __future__ import annotations

from dataclasses import dataclass

from maeil.dig.graph import InteractionGraph
from maeil.dig.patterns import PUBLISHED, Finding, PatternFinder, Thresholds
from maeil.trace.reader import Trace


@dataclass(frozen=True, slots=True)
class Analysis:
    """A graph, and the failures in it.

    Attributes:
        graph: the interaction graph.
        findings: in the order in which they came about.
    """

    graph: InteractionGraph
    findings: tuple[Finding, ...]


def analyse(trace: Trace, thresholds: Thresholds = PUBLISHED) -> Analysis:
    """Build the graph of a trace and find the failures in it: one pass over its events.

    Args:
        trace: the trace.
        thresholds: the numbers in the rules.
    """
    finder = PatternFinder(trace.start, thresholds)
    findings = [found for stamped in trace.events for found in finder.take(stamped)]
    return Analysis(finder.graph, tuple(findings))

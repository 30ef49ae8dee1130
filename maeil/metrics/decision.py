"""Metrics of the team's decision costs: entries of stages, and time on the cognitive clock.

The initial stage R of each agent counts as an entry, at cognitive time 0; so does the R after a plan that ended with
the last step. Stages open at the end of the trace count up to the last event; only the latency of a decision that was
never reached is left out.
"""

from __future__ import annotations

from math import fsum

from maeil.metrics.registry import Value, metric
from maeil.metrics.statistics import mean, ratio
from maeil.stages import Stage
from maeil.trace.events import ForcedReady
from maeil.trace.reader import Trace
from maeil.trace.stage_times import cognitive, timeline

_THINKING = (Stage.REASON, Stage.INTERRUPTED)


@metric("decision.overhead", "entries per environment step", better="lower")
def overhead(trace: Trace) -> Value:
    """Entries of R, W and I by all agents / T (EmCoop, D_delta, as plotted in its figures)."""
    line = timeline(trace)
    return ratio(line.entries(*_THINKING, Stage.WAIT), line.steps)


@metric("decision.number", "decisions", title="decisions")
def number(trace: Trace) -> Value:
    """Decisions of the team, each from an agent's first need to think until all agents are ready.

    An environment step may have more than one: a plan that ends before its first step needs another decision.
    """
    return sum(not decision.cut for decision in timeline(trace).decisions)


@metric("decision.latency_mean", "cognitive time", better="lower")
def latency_mean(trace: Trace) -> Value:
    """Mean over decisions of the cognitive time from an agent's first need to think until all agents are ready."""
    return mean([decision.lasts(cognitive) for decision in timeline(trace).decisions if not decision.cut])


@metric("decision.synchronisation", "cognitive time per agent", better="lower")
def synchronisation(trace: Trace) -> Value:
    """Mean over agents of the cognitive time in which they were ready while others were not.

    This is the time in W, including implied waiting: an agent whose plan continues after a step stays in X in the
    trace while it waits for agents that think. Formula: time of decisions - time in R and I, each per agent.
    """
    line = timeline(trace)
    decisions = fsum(decision.lasts(cognitive) for decision in line.decisions)
    return ratio(line.agents * decisions - line.time_in(cognitive, *_THINKING), line.agents)


@metric("decision.thoughts", "thoughts")
def thoughts(trace: Trace) -> Value:
    """Completed thoughts, including those of coordinators and refused ones."""
    return sum(thought.end is not None for thought in trace.story.thoughts)


@metric("decision.refused", "thoughts")
def refused(trace: Trace) -> Value:
    """Thoughts without effect because the answer was invalid: not allowed in the turn, or impossible in the world."""
    return sum(thought.refused for thought in trace.story.thoughts)


@metric("decision.forced_ready", "times")
def forced_ready(trace: Trace) -> Value:
    """Times that a participant had no thoughts left in a step, and was made ready without a new decision."""
    return len(trace.stamped(ForcedReady))

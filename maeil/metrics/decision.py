"""What it cost the team to decide: entries of stages, and time on the cognitive clock.

The stage R in which every agent begins is an entry, at cognitive time 0; so is the R after a plan that ended with the
last step. What is open at the end of the trace is counted up to the last event; only the latency of a decision that
never came is left out.
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
    """Entries of R, W and I of all agents / T (EmCoop, D_delta, as its figures plot it)."""
    line = timeline(trace)
    return ratio(line.entries(*_THINKING, Stage.WAIT), line.steps)


@metric("decision.number", "decisions", title="decisions")
def number(trace: Trace) -> Value:
    """Times that the world waited for the team: from an agent's first need to think until all are ready.

    More than one may fall into an environment step: a plan that ends before its first step needs another decision.
    """
    return sum(not decision.cut for decision in timeline(trace).decisions)


@metric("decision.latency_mean", "cognitive time", better="lower")
def latency_mean(trace: Trace) -> Value:
    """Mean over decisions of the cognitive time from an agent's first need to think until all are ready."""
    return mean([decision.lasts(cognitive) for decision in timeline(trace).decisions if not decision.cut])


@metric("decision.synchronisation", "cognitive time per agent", better="lower")
def synchronisation(trace: Trace) -> Value:
    """Mean over agents of the cognitive time that they were ready while others were not.

    That is the time in W, the implied one included: an agent whose plan goes on after a step is ready again, and its
    trace says X while it waits for those who think. Formula: decisions - time in R and I, each per agent.
    """
    line = timeline(trace)
    decisions = fsum(decision.lasts(cognitive) for decision in line.decisions)
    return ratio(line.agents * decisions - line.time_in(cognitive, *_THINKING), line.agents)


@metric("decision.thoughts", "thoughts")
def thoughts(trace: Trace) -> Value:
    """Thoughts that were finished, those of coordinators and refused ones included."""
    return sum(thought.end is not None for thought in trace.story.thoughts)


@metric("decision.refused", "thoughts")
def refused(trace: Trace) -> Value:
    """Thoughts that had no effect because what they said was not allowed or could not be done."""
    return sum(thought.refused for thought in trace.story.thoughts)


@metric("decision.forced_ready", "times")
def forced_ready(trace: Trace) -> Value:
    """Times that a participant had used up its thoughts of a step and was made ready with what it had."""
    return len(trace.stamped(ForcedReady))

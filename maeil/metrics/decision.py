"""What it cost the team to decide: entries of stages, and time, on the cognitive clock and on the wall clock.

- The stage R in which every agent begins is an entry, at cognitive time 0; so is the R after a plan that ended with the
  last step.
- What is open at the end of the trace is counted up to the last event; only the latency of a decision that never came
  is left out.
- On the wall clock the effect of a thought is dated when every thought that began with it has returned, because only
  then is its place in the order known. Wall time in R and I therefore contains the wait for the slowest of them.
"""

from __future__ import annotations

from functools import partial
from math import fsum

from maeil.metrics.registry import Value, metric
from maeil.metrics.statistics import mean, quantile, ratio
from maeil.metrics.timeline import Clock, cognitive, timeline, wall
from maeil.stages import Stage
from maeil.trace.events import CUT_SHORT, ForcedReady, ThoughtEnd, ThoughtStart
from maeil.trace.reader import Trace

_THINKING = (Stage.REASON, Stage.INTERRUPTED)
_COGNITIVE = (Stage.REASON, Stage.WAIT, Stage.INTERRUPTED)
_CLOCKS: tuple[tuple[str, str, Clock, str], ...] = (
    ("", "cognitive time", cognitive, "on the cognitive clock"),
    ("_seconds", "s", wall, "in seconds of wall time, not reproducible"),
)
_NAMES = {stage: stage.name.lower() for stage in Stage}


@metric("decision.overhead", "entries per environment step", better="lower")
def overhead(trace: Trace) -> Value:
    """Entries of R, W and I of all agents / T (EmCoop, D_delta, as its figures plot it)."""
    line = timeline(trace)
    return ratio(line.entries(*_COGNITIVE), line.steps)


def _entries(stage: Stage, trace: Trace) -> Value:
    line = timeline(trace)
    return ratio(line.entries(stage), line.steps)


for _stage in _COGNITIVE:
    metric(
        f"decision.entries_{_NAMES[_stage]}",
        "entries per environment step",
        doc=f"Entries of stage {_stage.value} of all agents / T: its part of `decision.overhead`.",
    )(partial(_entries, _stage))


def _time_in(stage: Stage, clock: Clock, trace: Trace) -> Value:
    line = timeline(trace)
    return ratio(line.time_in(clock, stage), line.agents)


def _latencies(clock: Clock, trace: Trace) -> list[float]:
    return [decision.lasts(clock) for decision in timeline(trace).decisions if not decision.cut]


def _latency_mean(clock: Clock, trace: Trace) -> Value:
    return mean(_latencies(clock, trace))


def _latency_p95(clock: Clock, trace: Trace) -> Value:
    return quantile(_latencies(clock, trace), 0.95)


def _synchronisation(clock: Clock, trace: Trace) -> Value:
    line = timeline(trace)
    decisions = fsum(decision.lasts(clock) for decision in line.decisions)
    return ratio(line.agents * decisions - line.time_in(clock, *_THINKING), line.agents)


@metric("decision.number", "decisions", title="decisions")
def number(trace: Trace) -> Value:
    """Times that the world waited for the team: from an agent's first need to think until all are ready.

    More than one may fall into an environment step: a plan that ends before its first step needs another decision.
    """
    return sum(not decision.cut for decision in timeline(trace).decisions)


for _end, _unit, _clock, _where in _CLOCKS:
    metric(
        f"decision.latency_mean{_end}",
        _unit,
        better="lower",
        doc=f"Mean over decisions of the time from an agent's first need to think until all are ready, {_where}.",
    )(partial(_latency_mean, _clock))
    metric(
        f"decision.latency_p95{_end}",
        _unit,
        better="lower",
        doc="95th percentile, interpolated linearly, over decisions of the time from an agent's first need to think"
        f" until all are ready, {_where}.",
    )(partial(_latency_p95, _clock))
    metric(
        f"decision.synchronisation{_end}",
        f"{_unit} per agent",
        better="lower",
        doc=f"""Mean over agents of the time that they were ready while others were not, {_where}.

        That is the time in W, the implied one included: an agent whose plan goes on after a step is ready again, and
        its trace says X while it waits for those who think. Formula: decisions - time in R and I, each per agent.
        """,
    )(partial(_synchronisation, _clock))
    for _stage in Stage:
        metric(
            f"decision.time_{_NAMES[_stage]}{_end}",
            f"{_unit} per agent",
            doc=f"Mean over agents of the time in stage {_stage.value}, as the trace has it, {_where}.",
        )(partial(_time_in, _stage, _clock))


@metric("decision.thoughts", "thoughts")
def thoughts(trace: Trace) -> Value:
    """Thoughts that were finished, those of coordinators and refused ones included."""
    return len(trace.stamped(ThoughtEnd))


@metric("decision.refused", "thoughts")
def refused(trace: Trace) -> Value:
    """Thoughts that had no effect because what they said was not allowed or could not be done."""
    return sum(list(thought.refused) not in ([], [CUT_SHORT]) for thought in trace.of(ThoughtEnd))


@metric("decision.repairs", "thoughts")
def repairs(trace: Trace) -> Value:
    """Thoughts that were asked for again with the reasons of the refusal."""
    return sum(bool(thought.problems) for thought in trace.of(ThoughtStart))


@metric("decision.forced_ready", "times")
def forced_ready(trace: Trace) -> Value:
    """Times that a participant had used up its thoughts of a step and was made ready with what it had."""
    return len(trace.stamped(ForcedReady))

"""The stages of a trace: spells of each agent in a stage, decisions of the team, and how long the team thinks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import fsum

from maeil.stages import Stage, Trigger, may_send
from maeil.trace.events import StageChange, Stamped, StepTaken
from maeil.trace.reader import Trace, shared

Clock = Callable[[Stamped], float]
"""Reads a time off an event."""


def cognitive(moment: Stamped) -> float:
    """Read the cognitive clock."""
    return moment.t_hat


def wall(moment: Stamped) -> float:
    """Read the wall clock, in seconds."""
    return moment.wall


@dataclass(frozen=True, slots=True)
class Spell:
    """An unbroken time of one agent in one stage.

    Attributes:
        agent: index.
        stage: stage.
        begin: the event of the entry; the first event of the trace for the stage R in which every agent begins.
        end: the event of the next entry; the last event of the trace when there is none.
        cut: whether there is none.
    """

    agent: int
    stage: Stage
    begin: Stamped
    end: Stamped
    cut: bool = False

    def lasts(self, clock: Clock) -> float:
        """Return its length on a clock."""
        return clock(self.end) - clock(self.begin)


@dataclass(frozen=True, slots=True)
class Decision:
    """A time in which the world waits for the team.

    It lasts from the first event after which an agent needs to think (is in R or I) until all are ready.

    Attributes:
        begin: the event with which it begins.
        end: the event with which all are ready; the last event of the trace when it was not reached.
        cut: whether it was not reached.
    """

    begin: Stamped
    end: Stamped
    cut: bool = False

    def lasts(self, clock: Clock) -> float:
        """Return its length on a clock."""
        return clock(self.end) - clock(self.begin)


@dataclass(frozen=True, slots=True)
class Timeline:
    """The stages of an episode.

    Attributes:
        agents: number of embodied agents, n.
        steps: environment steps taken, T.
        spells: every stage entry, in the order of the entries. The first n are the R in which all begin.
        decisions: in order.
    """

    agents: int
    steps: int
    spells: tuple[Spell, ...]
    decisions: tuple[Decision, ...]

    def entries(self, *stages: Stage) -> int:
        """Count the entries of some stages."""
        return sum(spell.stage in stages for spell in self.spells)

    def time_in(self, clock: Clock, *stages: Stage) -> float:
        """Sum up the time of all agents in some stages."""
        return fsum(spell.lasts(clock) for spell in self.spells if spell.stage in stages)


@shared
def timeline(trace: Trace) -> Timeline:
    """Return the timeline of a trace. What is open at the end is counted up to the last event."""
    first, last = trace.events[0], trace.events[-1]
    agents = len(trace.start.agents)
    stages = [Stage.REASON] * agents
    since = [first] * agents
    open_spells = list(range(agents))
    spells: list[Spell | None] = [None] * agents
    decisions = []
    opened = first if agents else None
    by_value = {stage.value: stage for stage in Stage}
    for stamped in trace.stamped(StageChange):
        change = stamped.event
        assert isinstance(change, StageChange)
        agent, stage = change.agent, by_value[change.to_stage]
        spells[open_spells[agent]] = Spell(agent, stages[agent], since[agent], stamped)
        stages[agent], since[agent], open_spells[agent] = stage, stamped, len(spells)
        spells.append(None)
        if opened is None and may_send(stage):
            opened = stamped
        elif opened is not None and change.reason == Trigger.ALL_READY:
            decisions.append(Decision(opened, stamped))
            opened = None
    for agent in range(agents):
        spells[open_spells[agent]] = Spell(agent, stages[agent], since[agent], last, cut=True)
    if opened is not None:
        decisions.append(Decision(opened, last, cut=True))
    whole = tuple(spell for spell in spells if spell is not None)
    return Timeline(agents, len(trace.stamped(StepTaken)), whole, tuple(decisions))


class ThinkingTime:
    """The time that all agents of a trace have spent in R and I, up to any of its events.

    Args:
        trace: the trace.
        clock: what measures time.
    """

    def __init__(self, trace: Trace, clock: Clock) -> None:
        self._clock = clock
        self._agents = len(trace.start.agents)
        self._numbers, self._times, self._thinking = [0], [clock(trace.events[0])], [self._agents]
        for stamped in trace.stamped(StageChange):
            change = stamped.event
            assert isinstance(change, StageChange)
            begins, ends = may_send(Stage(change.to_stage)), may_send(Stage(change.from_stage))
            self._numbers.append(stamped.seq)
            self._times.append(clock(stamped))
            self._thinking.append(self._thinking[-1] + begins - ends)
        spans = (
            number * (end - begin)
            for number, (begin, end) in zip(self._thinking, pairwise(self._times), strict=False)  # none after the last
        )
        self._sums = list(accumulate(spans, initial=0.0))

    def until(self, moment: Stamped) -> float:
        """Return the thinking time of all agents together up to an event."""
        place = bisect_right(self._numbers, moment.seq) - 1
        return self._sums[place] + self._thinking[place] * (self._clock(moment) - self._times[place])

    def waited(self, begin: Stamped, end: Stamped) -> float:
        """Return the time of all agents together in which they did not think between two events."""
        span = self._clock(end) - self._clock(begin)
        return max(0.0, self._agents * span - (self.until(end) - self.until(begin)))

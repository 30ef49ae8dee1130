"""The stages in a trace: spells of each agent in a stage, decisions of the team, and thinking times."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from math import fsum

from maeil.stages import Stage, Trigger, may_send
from maeil.trace.events import StageChange, Stamped, StepTaken
from maeil.trace.reader import Trace, shared

Clock = Callable[[Stamped], float]
"""Reads the time of an event."""


def cognitive(moment: Stamped) -> float:
    """Read the cognitive clock."""
    return moment.t_hat


def wall(moment: Stamped) -> float:
    """Read the wall clock, in seconds."""
    return moment.wall


@dataclass(frozen=True, slots=True)
class Period:
    """A part of a trace.

    Attributes:
        begin: the event at its start.
        end: the event at its end; without one, the last event of the trace.
        cut: whether there is no event at its end.
    """

    begin: Stamped
    end: Stamped
    cut: bool = field(default=False, kw_only=True)

    def lasts(self, clock: Clock) -> float:
        """Return its length on a clock."""
        return clock(self.end) - clock(self.begin)


@dataclass(frozen=True, slots=True)
class Spell(Period):
    """An uninterrupted period of one agent in one stage.

    It lasts from the event of entry, or from the first event of the trace for the initial stage R of each agent, until
    the next entry.

    Attributes:
        agent: index of the agent.
        stage: the stage.
    """

    agent: int
    stage: Stage


class Decision(Period):
    """A period in which the world waits for the team.

    It lasts from the first event after which an agent needs to think (is in R or I) until all agents are ready.
    """


@dataclass(frozen=True, slots=True)
class Timeline:
    """The stages of an episode.

    Attributes:
        agents: number of embodied agents, n.
        steps: environment steps taken, T.
        spells: all spells, in order of entry. The first n are the initial R of all agents.
        decisions: all decisions, in order.
    """

    agents: int
    steps: int
    spells: tuple[Spell, ...]
    decisions: tuple[Decision, ...]

    def entries(self, *stages: Stage) -> int:
        """Count the entries into some stages."""
        return sum(spell.stage in stages for spell in self.spells)

    def time_in(self, clock: Clock, *stages: Stage) -> float:
        """Return the total time of all agents in some stages."""
        return fsum(spell.lasts(clock) for spell in self.spells if spell.stage in stages)


@shared
def timeline(trace: Trace) -> Timeline:
    """Return the timeline of a trace. Spells and decisions open at the end last until the last event."""
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
        spells[open_spells[agent]] = Spell(since[agent], stamped, agent, stages[agent])
        stages[agent], since[agent], open_spells[agent] = stage, stamped, len(spells)
        spells.append(None)
        if opened is None and may_send(stage):
            opened = stamped
        elif opened is not None and change.reason == Trigger.ALL_READY:
            decisions.append(Decision(opened, stamped))
            opened = None
    for agent in range(agents):
        spells[open_spells[agent]] = Spell(since[agent], last, agent, stages[agent], cut=True)
    if opened is not None:
        decisions.append(Decision(opened, last, cut=True))
    whole = tuple(spell for spell in spells if spell is not None)
    return Timeline(agents, len(trace.stamped(StepTaken)), whole, tuple(decisions))


class ThinkingTime:
    """The total time that all agents have spent in R and I, up to any event of a trace.

    Args:
        trace: the trace.
        clock: the clock that measures the time.
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
        """Return the total thinking time of all agents up to an event."""
        place = bisect_right(self._numbers, moment.seq) - 1
        return self._sums[place] + self._thinking[place] * (self._clock(moment) - self._times[place])

    def waited(self, begin: Stamped, end: Stamped) -> float:
        """Return the total time between two events in which agents did not think."""
        span = self._clock(end) - self._clock(begin)
        return max(0.0, self._agents * span - (self.until(end) - self.until(begin)))

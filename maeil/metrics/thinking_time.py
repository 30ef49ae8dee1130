"""How long a team thinks: the time of all agents in R and I, summed up along a trace."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, pairwise

from maeil.metrics.timeline import Clock
from maeil.stages import Stage, may_send
from maeil.trace.events import StageChange, Stamped
from maeil.trace.reader import Trace


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

"""The cognitive clock: its units, and the event queue, which alone determines the order of events."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

from maeil.calls import Call

P = TypeVar("P")


class ClockCount(StrEnum):
    """Which tokens of a completion advance the cognitive clock when its unit is tokens."""

    ALL = "all"
    """Reasoning and answer: an agent that reasons longer is later."""

    ANSWER = "answer"
    """The answer only: reasoning takes no cognitive time."""


class ClockUnit(StrEnum):
    """The unit of the cognitive clock."""

    TOKENS = "tokens"
    """Completion tokens of the calls, counted according to `ClockCount`; 1 for a thought without a call."""

    FIXED = "fixed"
    """1 for each thought."""

    SECONDS = "seconds"
    """Measured wall time: not reproducible."""

    def cost(self, calls: tuple[Call, ...], seconds: float, count: ClockCount = ClockCount.ALL) -> float:
        """Return the cost of a thought: how far it advances its agent on the clock."""
        match self:
            case ClockUnit.TOKENS if calls and count is ClockCount.ANSWER:
                return max(1, sum(call.completion_tokens - call.reasoning_tokens for call in calls))
            case ClockUnit.TOKENS:
                return sum(call.completion_tokens for call in calls) if calls else 1
            case ClockUnit.FIXED:
                return 1
            case ClockUnit.SECONDS:
                return seconds


@dataclass(slots=True)
class EventQueue(Generic[P]):
    """Future events, ordered by `(time, agent index, sequence number)`."""

    _heap: list[tuple[float, int, int, P]] = field(default_factory=list)
    _pushed: int = 0

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, time: float, agent: int, event: P) -> None:
        """Add an event for `agent` at `time`."""
        heapq.heappush(self._heap, (time, agent, self._pushed, event))
        self._pushed += 1

    def pop(self, instant: float) -> tuple[int, P] | None:
        """Remove and return the next event with its agent if it is due at this instant; otherwise return None."""
        if self._heap and self._heap[0][0] == instant:
            _, agent, _, event = heapq.heappop(self._heap)
            return agent, event
        return None

    @property
    def next_time(self) -> float:
        """Time of the next event."""
        return self._heap[0][0]

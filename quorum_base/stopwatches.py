"""Time that language model calls take, excluding time in this project's own queue.

Waiting in the queue says nothing about a model or a team: it depends on the number of concurrent calls.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Stopwatch:
    """Counts seconds from its creation, and pauses while all calls that it tracks wait in the queue.

    Args:
        clock: returns monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._begin = self._changed = clock()
        self._stood = 0.0
        self._queued = self._asked = 0

    @property
    def stands(self) -> bool:
        """Whether the stopwatch is paused: calls are queued, and none is under way."""
        return self._queued > 0 and self._asked == 0

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return (self._changed if self.stands else self._clock()) - self._begin - self._stood

    def count(self, queued: int, asked: int) -> None:
        """Change the number of queued calls and of calls under way by these differences."""
        now = self._clock()
        self._stood += now - self._changed if self.stands else 0.0
        self._changed = now
        self._queued += queued
        self._asked += asked


_STOPWATCHES: ContextVar[tuple[Stopwatch, ...]] = ContextVar("stopwatches", default=())


@contextmanager
def timed_by(*stopwatches: Stopwatch) -> Iterator[None]:
    """Let stopwatches track the calls made in this context, including those of tasks started in it."""
    token = _STOPWATCHES.set((*_STOPWATCHES.get(), *stopwatches))
    try:
        yield
    finally:
        _STOPWATCHES.reset(token)


@contextmanager
def queued() -> Iterator[Callable[[], None]]:
    """Count a call as queued; yield a function to call when it leaves the queue, which counts it as under way."""
    stopwatches, has_place = _STOPWATCHES.get(), False

    def count(queued: int, asked: int) -> None:
        for stopwatch in stopwatches:
            stopwatch.count(queued, asked)

    def begin() -> None:
        nonlocal has_place
        has_place = True
        count(-1, 1)

    count(1, 0)
    try:
        yield begin
    finally:
        count(*((0, -1) if has_place else (-1, 0)))

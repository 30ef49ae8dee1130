"""Time that calls of language models take, without the time for which they wait for a place in our own queue.

Such a wait says nothing about a model or a team: it follows from how many others are asked at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Stopwatch:
    """Counts seconds from now on, and stands while all the calls that it knows of wait for a place.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._begin = self._changed = clock()
        self._stood = 0.0
        self._queued = self._asked = 0

    @property
    def stands(self) -> bool:
        """Whether it waits for a place, and for nothing else."""
        return self._queued > 0 and self._asked == 0

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return (self._changed if self.stands else self._clock()) - self._begin - self._stood

    def count(self, queued: int, asked: int) -> None:
        """Count more or fewer calls that wait for a place, and that have one."""
        now = self._clock()
        self._stood += now - self._changed if self.stands else 0.0
        self._changed = now
        self._queued += queued
        self._asked += asked


_STOPWATCHES: ContextVar[tuple[Stopwatch, ...]] = ContextVar("stopwatches", default=())


@contextmanager
def timed_by(*stopwatches: Stopwatch) -> Iterator[None]:
    """Have stopwatches know of the calls that are made inside, in tasks started there as well."""
    token = _STOPWATCHES.set((*_STOPWATCHES.get(), *stopwatches))
    try:
        yield
    finally:
        _STOPWATCHES.reset(token)


@contextmanager
def queued() -> Iterator[Callable[[], None]]:
    """Wait for a place inside; gives what is called when there is one, from which on the call is under way."""
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

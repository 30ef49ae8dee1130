"""Time-outs that count only the time in which the event loop is responsive.

Writing a thousand prompts at once keeps the loop busy for seconds. It then reads server data late, and an ordinary
time-out would report a server failure.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_TICKS = 40
"""Minimum number of loop ticks in the shortest time-out."""


class LoopTimer:
    """Ends a scope after a number of seconds of its event loop.

    It counts in ticks. A late tick counts as if it were on time, so that lag of the loop is excluded.

    Args:
        scope: the scope, which ends with `TimeoutError`.
    """

    def __init__(self, scope: asyncio.Timeout) -> None:
        self._scope = scope
        self._handle: asyncio.TimerHandle | None = None

    def start(self, seconds: float) -> None:
        """Start counting."""
        self._next(_TICKS, seconds / _TICKS)

    def stop(self) -> None:
        """Stop counting."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _next(self, ticks: int, interval: float) -> None:
        loop = asyncio.get_running_loop()
        if ticks:
            self._handle = loop.call_later(interval, self._next, ticks - 1, interval)
        else:
            self._scope.reschedule(loop.time())


@asynccontextmanager
async def loop_timeout(seconds: float | None) -> AsyncIterator[asyncio.Timeout]:
    """Limit the duration of a block, as `asyncio.timeout` does, but without the lag of the loop.

    Raises:
        TimeoutError: the time is over; the yielded scope reports that it expired.
    """
    async with asyncio.timeout(None) as scope:
        timer = LoopTimer(scope)
        if seconds is not None:
            timer.start(seconds)
        try:
            yield scope
        finally:
            timer.stop()

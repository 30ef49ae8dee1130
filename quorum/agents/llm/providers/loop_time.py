"""Time-outs that count the time of an event loop, and not the time for which it was busy with something else.

A thousand prompts that are written at once keep the loop busy for seconds. What a server sent meanwhile is read late,
and a usual time-out would take that for a failure of the server.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_TICKS = 40
"""Turns of the loop that the shortest time-out takes, at least."""


class LoopTimer:
    """Ends a scope after seconds of its event loop.

    It goes in ticks. A tick that comes late counts as if it had come in time, so the lag of the loop is left out.

    Args:
        scope: ends with `TimeoutError`.
    """

    def __init__(self, scope: asyncio.Timeout) -> None:
        self._scope = scope
        self._handle: asyncio.TimerHandle | None = None

    def start(self, seconds: float) -> None:
        """Count from now."""
        self._next(_TICKS, seconds / _TICKS)

    def stop(self) -> None:
        """Count no further."""
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
    """Bound what stands inside, as `asyncio.timeout` does, without the lag of the loop.

    Raises:
        TimeoutError: the time is over; the scope that was given says that it expired.
    """
    async with asyncio.timeout(None) as scope:
        timer = LoopTimer(scope)
        if seconds is not None:
            timer.start(seconds)
        try:
            yield scope
        finally:
            timer.stop()

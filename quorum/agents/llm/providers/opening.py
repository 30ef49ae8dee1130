"""Opens connections a few at a time, each with a time limit that starts when its turn comes.

A thousand simultaneous connections overflow a server's listen queue, and the system retries them seconds later. The
HTTP libraries report the start of a connection: aiohttp through tracing, httpcore through the extension `trace`.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any, Self

from quorum.agents.llm.providers.loop_time import LoopTimer

_DOORS = 32
"""Maximum number of connections that a client opens at once."""


def new_doors() -> asyncio.Semaphore:
    """Return the semaphore that limits how many connections a client opens at once."""
    return asyncio.Semaphore(_DOORS)


class Connecting:
    """Opens the connection of one exchange, unless an open one can be reused.

    Args:
        doors: semaphore of the client; None: the time is not measured.
        seconds: time limit, starting when its turn comes.
    """

    def __init__(self, doors: asyncio.Semaphore | None, seconds: float) -> None:
        self._doors = doors
        self._seconds = seconds
        self._scope = asyncio.timeout(None)
        self._timer = LoopTimer(self._scope)
        self._inside = False

    @property
    def expired(self) -> bool:
        """Whether the time limit expired without a connection."""
        return self._scope.expired()

    async def begin(self) -> None:
        """Wait for a turn, then start the time limit."""
        if self._doors is not None and not self._inside:
            await self._doors.acquire()
            self._inside = True
            self._timer.start(self._seconds)

    def end(self) -> None:
        """Let the next connection open."""
        if self._doors is not None and self._inside:
            self._inside = False
            self._timer.stop()
            self._doors.release()

    async def follow(self, event: str, _: Any) -> None:
        """Follow httpcore's events: TLS is part of the connection, which is complete when the request is sent."""
        if event.endswith("connect_tcp.started"):
            await self.begin()
        elif event.endswith("send_request_headers.started"):
            self.end()

    async def __aenter__(self) -> Self:
        await self._scope.__aenter__()
        self._token = _CONNECTING.set(self)
        return self

    async def __aexit__(self, *error: Any) -> None:
        _CONNECTING.reset(self._token)
        self.end()
        await self._scope.__aexit__(*error)


_CONNECTING: ContextVar[Connecting] = ContextVar("connecting")


def follow_aiohttp(transport: Any) -> None:
    """Make the future session of an aiohttp transport report its connections."""
    import aiohttp  # noqa: PLC0415 (this transport has imported it)

    async def begin(*_: Any) -> None:
        await _CONNECTING.get().begin()

    async def end(*_: Any) -> None:
        _CONNECTING.get().end()

    tracing = aiohttp.TraceConfig()
    tracing.on_connection_create_start.append(begin)
    tracing.on_connection_create_end.append(end)
    tracing.freeze()
    make = transport.get_client

    def traced() -> Any:
        session = make()
        session.trace_configs.append(tracing)
        return session

    transport.get_client = traced

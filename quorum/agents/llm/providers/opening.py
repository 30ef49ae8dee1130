"""How connections are opened: a few at a time, each within its time, counted from its own turn.

A thousand connections at once overflow the queue of a server that listens, and the system tries those again seconds
later. The HTTP libraries report when they begin to connect: aiohttp by its tracing, httpcore by the extension `trace`.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any, Self

from quorum.agents.llm.providers.loop_time import LoopTimer

_DOORS = 32
"""Connections that a client opens at once."""


def new_doors() -> asyncio.Semaphore:
    """Return what lets a few connections open at once; one for a client."""
    return asyncio.Semaphore(_DOORS)


class Connecting:
    """The opening of the connection of one exchange, which needs none where one is open already.

    Args:
        doors: of the client; None: nothing is counted.
        seconds: that it may take from its turn on.
    """

    def __init__(self, doors: asyncio.Semaphore | None, seconds: float) -> None:
        self._doors = doors
        self._seconds = seconds
        self._scope = asyncio.timeout(None)
        self._timer = LoopTimer(self._scope)
        self._inside = False

    @property
    def expired(self) -> bool:
        """Whether there was no connection in time."""
        return self._scope.expired()

    async def begin(self) -> None:
        """Wait for a turn, and count from then on."""
        if self._doors is not None and not self._inside:
            await self._doors.acquire()
            self._inside = True
            self._timer.start(self._seconds)

    def end(self) -> None:
        """Let the next one in."""
        if self._doors is not None and self._inside:
            self._inside = False
            self._timer.stop()
            self._doors.release()

    async def follow(self, event: str, _: Any) -> None:
        """Follow httpcore: TLS belongs to the connection, so it stands when the request is sent."""
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
    """Have the session that a transport of aiohttp will make report when it connects."""
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

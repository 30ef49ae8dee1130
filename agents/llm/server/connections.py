"""The open connections of the server: slow ones end, and a fault can cut one."""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
"""Seconds that the head of a request may take, from the connection or from its first byte."""
STALL_SECONDS = 30.0
"""Seconds in which a client takes nothing of an answer, after which its connection ends."""


class Connections:
    """The open connections by the client's address.

    Attributes:
        stale: clients whose kept connection is dead for the next request.
        head_seconds: seconds that the head of a request may take.
        stall_seconds: seconds that a client may leave an answer where it is.
    """

    def __init__(self) -> None:
        self._open: dict[Any, asyncio.Transport] = {}
        self.stale: set[Any] = set()
        self.head_seconds = HEAD_SECONDS
        self.stall_seconds = STALL_SECONDS

    def protocol(self) -> type[H11Protocol]:
        """Return uvicorn's HTTP protocol, which tells of its connections here and ends the slow ones.

        Uvicorn bounds how long a connection is idle, and not how long a request takes to come.
        """
        connections = self

        class Protocol(H11Protocol):
            _timer: asyncio.TimerHandle | None = None
            _stalled: asyncio.TimerHandle | None = None

            def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
                super().connection_made(transport)
                connections._open[self.client] = transport
                self._await_head()

            def data_received(self, data: bytes) -> None:
                super().data_received(data)
                if self.cycle is None or self.cycle.response_complete:
                    self._await_head()
                else:
                    self._forget_timer()

            def pause_writing(self) -> None:
                super().pause_writing()
                self._stalled = self.loop.call_later(connections.stall_seconds, self.transport.abort)

            def resume_writing(self) -> None:
                self._forget_stall()
                super().resume_writing()

            def connection_lost(self, exc: Exception | None) -> None:
                self._forget_timer()
                self._forget_stall()
                connections._open.pop(self.client, None)
                connections.stale.discard(self.client)
                super().connection_lost(exc)

            def _forget_stall(self) -> None:
                if self._stalled is not None:
                    self._stalled.cancel()
                    self._stalled = None

            def _await_head(self) -> None:
                if self._timer is None:
                    self._timer = self.loop.call_later(connections.head_seconds, self.transport.close)

            def _forget_timer(self) -> None:
                if self._timer is not None:
                    self._timer.cancel()
                    self._timer = None

        return Protocol

    def reset(self, client: Any) -> None:
        """Cut a connection so that the other side sees a reset."""
        transport = self._open[client]
        linger = struct.pack("ii", 1, 0)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        transport.abort()

"""Code shared by the servers of this project: a local address, and connections that close on slow clients."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

HOST = "127.0.0.1"
HEAD_SECONDS = 10.0
"""Maximum seconds for the head of a request, from the connection or from its first byte."""
STALL_SECONDS = 30.0
"""Seconds after which a connection ends if its client reads nothing of a response."""


class Connections:
    """The open connections of a server. Uvicorn limits how long a connection is idle, not how long a request takes.

    Attributes:
        open: their transports, by the client's address.
        head_seconds: maximum seconds for the head of a request.
        stall_seconds: maximum seconds for which a client may read nothing of a response.
    """

    def __init__(self) -> None:
        self.open: dict[Any, asyncio.Transport] = {}
        self.head_seconds = HEAD_SECONDS
        self.stall_seconds = STALL_SECONDS

    def protocol(self) -> type[H11Protocol]:
        """Return uvicorn's HTTP protocol, extended to register its connections here and end the slow ones."""
        connections = self

        class Protocol(H11Protocol):
            def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
                self._timers: dict[str, asyncio.TimerHandle] = {}
                super().connection_made(transport)
                connections.open[self.client] = transport
                self._await_head()

            def data_received(self, data: bytes) -> None:
                super().data_received(data)
                if self.cycle is None or self.cycle.response_complete:
                    self._await_head()
                else:
                    self._stop("head")

            def pause_writing(self) -> None:
                super().pause_writing()
                self._timers["stall"] = self.loop.call_later(connections.stall_seconds, self.transport.abort)

            def resume_writing(self) -> None:
                self._stop("stall")
                super().resume_writing()

            def connection_lost(self, exc: Exception | None) -> None:
                self._stop("head")
                self._stop("stall")
                connections.open.pop(self.client, None)
                super().connection_lost(exc)

            def _await_head(self) -> None:
                if "head" not in self._timers:
                    self._timers["head"] = self.loop.call_later(connections.head_seconds, self.transport.close)

            def _stop(self, timer: str) -> None:
                if timer in self._timers:
                    self._timers.pop(timer).cancel()

        return Protocol


def server_config(app: ASGIApp, connections: Connections, **options: Any) -> uvicorn.Config:
    """Return the server configuration of an application: quiet, and without patience for slow clients.

    Args:
        app: the application.
        connections: connections of the server.
        options: more uvicorn options, which override the defaults.
    """
    usual: dict[str, Any] = {
        "log_level": "warning",
        "access_log": False,
        "lifespan": "off",
        "ws": "none",
        "http": connections.protocol(),
        "server_header": False,
        "proxy_headers": False,
        "timeout_graceful_shutdown": 1,
    }
    return uvicorn.Config(app, **{**usual, **options})


def listen(port: int) -> socket.socket:
    """Bind a port of this machine; 0 for any free one.

    Raises:
        OSError, OverflowError: the port is taken or not valid.
    """
    listener = socket.socket()
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
    except (OSError, OverflowError):
        listener.close()
        raise
    return listener

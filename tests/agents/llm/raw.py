"""A server that says over the wire exactly what a test wants, and keeps what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from tests.loopback import Addresses

Answer = tuple[int, dict[str, str], bytes]
Respond = Callable[[dict[str, Any], asyncio.StreamWriter], Awaitable[Answer | None]]


def answer(body: Any, status: int = 200, **headers: str) -> Answer:
    """Give a response with JSON in it."""
    return status, {"content-type": "application/json", **headers}, json.dumps(body).encode()


def completion(**changes: Any) -> dict[str, Any]:
    """Give a chat completion; `message`, `usage` and so on take the place of what stands there."""
    message = changes.pop("message", {"role": "assistant", "content": "Hello."})
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        **changes,
    }


class RawServer:
    """Reads requests and answers by a function.

    `asked` holds their bodies, `paths` their first lines, `headers` their headers by name in lower case.
    """

    def __init__(self, respond: Respond) -> None:
        self._respond = respond
        self.asked: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self._tasks: set[asyncio.Task[Any]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                while await self._answer(reader, writer):
                    pass
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        fields = (line.partition(":") for line in head[1:] if line)
        self.headers.append({name.lower(): value.strip() for name, _, value in fields})
        lines = [line.lower() for line in head]
        length = next((int(line.split(":")[1]) for line in lines if line.startswith("content-length")), 0)
        self.asked.append(json.loads(await reader.readexactly(length) or b"{}"))
        self.paths.append(lines[0])
        said = await self._respond(self.asked[-1], writer)
        if said is None:
            return False
        status, headers, content = said
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {status} X\r\n{lines}content-length: {len(content)}\r\n\r\n".encode() + content)
        await writer.drain()
        return True

    async def stop(self) -> None:
        """Leave what is under way."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def raw_server(respond: Respond | Answer) -> AsyncIterator[tuple[Addresses, RawServer]]:
    """Serve on loopback: by a function, or always the same."""

    async def always(_body: dict[str, Any], _writer: asyncio.StreamWriter) -> Answer | None:
        assert isinstance(respond, tuple)
        return respond

    made = RawServer(always if isinstance(respond, tuple) else respond)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    root = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield Addresses(openai=f"{root}/v1", anthropic=root), made
    finally:
        server.close()
        await made.stop()

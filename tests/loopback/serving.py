"""The loopback server: the application on 127.0.0.1, for as long as a context lasts or until Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from quorum.agents.llm.protocol import Model
from quorum.agents.simulated import NAME
from quorum.more_providers.serving import app
from quorum.more_providers.serving.app import KEEP_ALIVE, Addresses
from quorum.process.http import HEAD_SECONDS, listen, server_config
from tests.loopback.app import App, BodyBounds
from tests.loopback.batches import Batches
from tests.loopback.faults import Faults
from tests.loopback.prompt_caches import PromptCaches
from tests.loopback.thinking import Thinking, ThinkingModel


class _QuietServer(uvicorn.Server):
    """A server inside of another program, whose signals are not its own; it ends when `stop` is set."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.stop = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self.stop.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        answers = list(self.server_state.tasks)
        for answer in answers:
            answer.cancel()
        await asyncio.gather(*answers, return_exceptions=True)


def _app(
    brain: Model,
    *,
    models: Sequence[str] = (NAME,),
    faults: Faults = (),
    latency: float = 0.0,
    context: int | None = None,
    thinking: Thinking | None = None,
    prompt_cache: bool = False,
    batches: Batches | None = None,
    bodies: BodyBounds = BodyBounds(),  # noqa: B008 - it is frozen
    head_seconds: float = HEAD_SECONDS,
) -> App:
    answering = brain if thinking is None else ThinkingModel(brain, thinking)
    caches = PromptCaches() if prompt_cache else None
    made = App(answering, models, faults, latency, context=context, batches=batches, prompt_caches=caches)
    made.most_bytes, made.body_seconds = bodies.bytes, bodies.seconds
    made.connections.head_seconds = head_seconds
    return made


@contextlib.asynccontextmanager
async def serve(
    brain: Model, *, port: int = 0, spoiled: Callable[[ASGIApp], ASGIApp] = lambda app: app, **arguments: Any
) -> AsyncIterator[Addresses]:
    """Serve a brain on 127.0.0.1 for as long as the context lasts.

    Args:
        brain: what answers.
        port: 0 for any free one.
        spoiled: wraps the whole application.
        arguments: those of `App`; `thinking`: how the brain thinks before it answers; `prompt_cache`: whether the
            prompt cache of the provider is simulated; `bodies`, `head_seconds`: bounds of requests.

    Raises:
        OSError: the port is taken.
    """
    made = _app(brain, **arguments)
    options = {"timeout_keep_alive": KEEP_ALIVE, "log_config": None, "log_level": "critical", "backlog": 2048}
    with contextlib.closing(listen(port)) as listener:
        server = _QuietServer(server_config(spoiled(made.starlette()), made.connections, **options))
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            while not (server.started or task.done()):
                await asyncio.sleep(0.001)
            yield Addresses.at(listener.getsockname()[1])
        finally:
            server.stop.set()
            await task


def run(brain: Model, *, ready: Any = lambda _: None, **arguments: Any) -> None:
    """Serve a brain on 127.0.0.1 until the process is interrupted; arguments are those of `serve`."""
    app.run(_app(brain, **arguments), ready=ready)

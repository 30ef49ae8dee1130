"""The server: the application on 127.0.0.1 only, for as long as a context lasts or until Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass

import uvicorn

from quorum.agents.llm.protocol import Model
from quorum.agents.llm.providers.base import SIMULATED
from quorum.agents.llm.server.app import HOST, App
from quorum.agents.llm.server.batches import Batches
from quorum.agents.llm.server.bodies import BodyBounds
from quorum.agents.llm.server.connections import HEAD_SECONDS
from quorum.agents.llm.server.faults import Faults
from quorum.agents.llm.server.prompt_cache import PromptCaches
from quorum.agents.llm.server.thinking import Thinking, ThinkingModel

KEEP_ALIVE = 75
"""Seconds that an unused connection stays open: longer than clients keep theirs, so that only faults lose one."""
MODELS = (SIMULATED,)


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the server listens.

    Attributes:
        openai: `base_url` for OpenAI's format.
        anthropic: `base_url` for Anthropic's format.
    """

    openai: str
    anthropic: str


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

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:  # noqa: ARG002 (uvicorn's own)
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        answers = list(self.server_state.tasks)
        for answer in answers:
            answer.cancel()
        await asyncio.gather(*answers, return_exceptions=True)


def _config(app: App, log_level: str) -> uvicorn.Config:
    return uvicorn.Config(
        app.starlette(),
        http=app.connections.protocol(),
        ws="none",
        lifespan="off",
        log_config=None,
        log_level=log_level,
        access_log=False,
        timeout_graceful_shutdown=1,
        timeout_keep_alive=KEEP_ALIVE,
        backlog=2048,
    )


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError:
        listener.close()
        raise
    return listener


def _addresses(listener: socket.socket) -> Addresses:
    root = f"http://{HOST}:{listener.getsockname()[1]}"
    return Addresses(openai=f"{root}/v1", anthropic=root)


def _thinking(brain: Model, how: Thinking | None) -> Model:
    return brain if how is None else ThinkingModel(brain, how)


@contextlib.asynccontextmanager
async def serve(
    brain: Model,
    *,
    port: int = 0,
    models: Sequence[str] = MODELS,
    faults: Faults = (),
    latency: float = 0.0,
    context: int | None = None,
    thinking: Thinking | None = None,
    prompt_cache: bool = False,
    batches: Batches | None = None,
    bodies: BodyBounds = BodyBounds(),  # noqa: B008 - it is frozen
    head_seconds: float = HEAD_SECONDS,
) -> AsyncIterator[Addresses]:
    """Serve a brain on 127.0.0.1 for as long as the context lasts.

    Args:
        brain: what answers.
        port: 0 for any free one.
        models: names of models that are known; another gets 404.
        faults: what goes wrong, by number of the request.
        latency: seconds that every answer takes.
        context: tokens that a prompt and its longest answer may have together, four characters each; None: any number.
        thinking: how the brain thinks before it answers; None: not at all.
        prompt_cache: whether the prompt cache of the format's provider is played: what answers say of their tokens
            then depends on the order in which requests arrive.
        batches: what becomes of batches, and a count of them; None: they take as long as an answer does.
        bodies: bounds of the bodies of requests.
        head_seconds: seconds that the head of a request may take.

    Raises:
        OSError: the port is taken.
    """
    app = App(_thinking(brain, thinking), models, faults, latency, context=context, batches=batches)
    app.prompt_caches = PromptCaches() if prompt_cache else None
    app.bodies, app.connections.head_seconds = bodies, head_seconds
    with contextlib.closing(_listen(port)) as listener:
        server = _QuietServer(_config(app, "critical"))
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            while not (server.started or task.done()):
                await asyncio.sleep(0.001)
            yield _addresses(listener)
        finally:
            server.stop.set()
            await task


def run(
    brain: Model,
    *,
    port: int = 0,
    models: Sequence[str] = MODELS,
    faults: Faults = (),
    latency: float = 0.0,
    context: int | None = None,
    thinking: Thinking | None = None,
    prompt_cache: bool = False,
    ready: Callable[[Addresses], None] = lambda _: None,
) -> None:
    """Serve a brain on 127.0.0.1 until the process is interrupted.

    Args:
        brain: what answers.
        port: 0 for any free one.
        models: names of models that are known; another gets 404.
        faults: what goes wrong, by number of the request.
        latency: seconds that every answer takes.
        context: tokens that a prompt and its longest answer may have together, four characters each; None: any number.
        thinking: how the brain thinks before it answers; None: not at all.
        prompt_cache: whether the prompt cache of the format's provider is played: what answers say of their tokens
            then depends on the order in which requests arrive.
        ready: called with the addresses when the port is taken and before the first request is answered.

    Raises:
        OSError: the port is taken.
    """
    app = App(_thinking(brain, thinking), models, faults, latency, context=context)
    app.prompt_caches = PromptCaches() if prompt_cache else None
    with contextlib.closing(_listen(port)) as listener:
        listener.listen(2048)
        ready(_addresses(listener))
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(_config(app, "warning")).run(sockets=[listener])

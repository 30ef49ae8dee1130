"""The server: a model behind the formats of OpenAI and Anthropic, on 127.0.0.1 only."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from quorum.agents.llm.errors import LanguageModelError, RequestRefused
from quorum.agents.llm.protocol import Model
from quorum.agents.simulated import NAME
from quorum.more_providers.serving.formats import AnthropicFormat, BadBody, Format, OpenAIFormat, WireRequest
from quorum.process.http import HOST, Connections, listen, server_config

KEEP_ALIVE = 75
"""Seconds that an unused connection stays open: longer than clients keep it."""
MOST_BYTES = 16 * 2**20
"""Maximum size of a request body."""
BODY_SECONDS = 30.0
"""Timeout for receiving a body, in seconds."""

Failure = tuple[int, str, str]
"""Status, type and text of an error."""
FAILURES: Mapping[str, Failure] = {
    "rate_limit": (429, "rate_limit_error", "Too many requests."),
    "server_error": (500, "api_error", "Something broke."),
    "overloaded": (529, "overloaded_error", "Overloaded."),
}
"""Injectable failures, by name."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of the server.

    Attributes:
        openai: `base_url` for OpenAI's format.
        anthropic: `base_url` for Anthropic's format.
    """

    openai: str
    anthropic: str

    @classmethod
    def at(cls, port: int) -> Addresses:
        """Return the addresses for a port."""
        return cls(f"http://{HOST}:{port}/v1", f"http://{HOST}:{port}")


@dataclass
class App:
    """The routes of the server.

    Args:
        brain: the model that answers.
        models: names of its models, accepted with or without a leading family (`claude-sonnet-5/simulated`).
        latency: seconds per answer.
        failing: returns how a request fails, by its number; None to answer it.
    """

    formats: ClassVar[Mapping[str, Format]] = {
        "/v1/chat/completions": OpenAIFormat(),
        "/v1/messages": AnthropicFormat(),
    }

    brain: Model
    models: Sequence[str] = (NAME,)
    latency: float = 0.0
    failing: Callable[[int], Failure | None] = lambda _: None
    most_bytes: int = field(default=MOST_BYTES, init=False)
    body_seconds: float = field(default=BODY_SECONDS, init=False)
    connections: Connections = field(default_factory=Connections, init=False)
    _number: int = field(default=0, init=False)

    def starlette(self) -> Starlette:
        """Return the Starlette application."""
        # DNS rebinding can point other sites' pages at this address; their host name exposes them.
        known = Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])
        return Starlette(routes=self.routes(), middleware=[known])

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [Route(path, self._route(wire), methods=["POST"]) for path, wire in self.formats.items()]

    def _route(self, wire: Format) -> Callable[[HttpRequest], Any]:
        async def endpoint(http: HttpRequest) -> Response:
            number, self._number = self._number, self._number + 1
            try:
                return await self.respond(http, wire, number)
            except ClientDisconnect:
                return Response()
            except BadBody as error:
                return refused(wire, error)
            except (RequestRefused, RecursionError) as error:
                return as_json(wire.error("invalid_request_error", str(error)), 400)
            except LanguageModelError as error:
                return as_json(wire.error("api_error", f"{type(error).__name__}: {error}"), 500)

        return endpoint

    async def respond(self, http: HttpRequest, wire: Format, number: int) -> Response:
        """Respond to the request with a number.

        Raises:
            BadBody: the request does not match the format.
            starlette.requests.ClientDisconnect: the client has disconnected.
            quorum.agents.llm.errors.LanguageModelError: the brain has no answer.
        """
        body = await read_body(http, self.most_bytes, self.body_seconds)
        asked = wire.read(body)
        if not {asked.model, asked.model.rpartition("/")[2]} & set(self.models):
            return as_json(wire.error("not_found_error", f"model: {asked.model} is not known"), 404)
        if self.latency:
            await asyncio.sleep(self.latency)
        return await self.answer(http, wire, asked, body, number)

    async def answer(
        self, http: HttpRequest, wire: Format, asked: WireRequest, body: Mapping[str, Any], number: int
    ) -> Response:
        """Answer a parsed request."""
        del http, body  # for subclasses that need them
        if (failure := self.failing(number)) is not None:
            status, kind, text = failure
            return as_json(wire.error(kind, text), status)
        return as_json(wire.write(await self.brain.complete(asked.request), asked, number))


async def read_body(http: HttpRequest, most_bytes: int, seconds: float) -> Mapping[str, Any]:
    """Read the body of a request as a JSON object.

    Browsers send JSON across sites only if the server allows it, which this one does not.

    Args:
        http: the request.
        most_bytes: maximum size.
        seconds: timeout for receiving it.

    Raises:
        BadBody: it is not a JSON object, or exceeds a limit.
    """
    if http.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise BadBody("content-type: application/json is needed", 415)
    try:
        body = orjson.loads(await read_bytes(http, most_bytes, seconds))
    except orjson.JSONDecodeError as error:
        raise BadBody(f"the body is not JSON: {error}") from None
    if not isinstance(body, dict):
        raise BadBody("the body is not a JSON object")
    return body


async def read_bytes(http: HttpRequest, most_bytes: int, seconds: float) -> bytes:
    """Read the body of a request within limits.

    Raises:
        BadBody: it exceeds a limit.
    """
    content = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for piece in http.stream():
                content += piece
                if len(content) > most_bytes:
                    raise BadBody(f"the body has more than {most_bytes} bytes", 413)
    except TimeoutError:
        raise BadBody(f"the body took more than {seconds:g} s", 408) from None
    return bytes(content)


def as_json(body: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response in JSON."""
    return Response(orjson.dumps(body), status, headers, media_type="application/json")


def refused(wire: Format, error: BadBody) -> Response:
    """Return the response to a refused body.

    If the body was not fully read, its rest would be taken for the next request, so the connection closes.
    """
    headers = {} if error.status == 400 else {"connection": "close"}
    return as_json(wire.error("invalid_request_error", str(error)), error.status, headers)


def run(app: App, *, port: int = 0, ready: Callable[[Addresses], None] = lambda _: None) -> None:
    """Serve on 127.0.0.1 until the process is interrupted.

    Args:
        app: the application.
        port: the port; 0 for any free one.
        ready: called with the addresses once the port is bound, before the first request is answered.

    Raises:
        OSError: the port is taken.
    """
    config = server_config(app.starlette(), app.connections, timeout_keep_alive=KEEP_ALIVE, log_config=None)
    with contextlib.closing(listen(port)) as listener:
        listener.listen(2048)
        ready(Addresses.at(listener.getsockname()[1]))
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])

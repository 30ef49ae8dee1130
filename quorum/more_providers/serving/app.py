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
"""Seconds that an unused connection stays open: longer than clients do."""
MOST_BYTES = 16 * 2**20
"""Longest body of a request."""
BODY_SECONDS = 30.0
"""Seconds that a body may take to arrive."""

Failure = tuple[int, str, str]
"""Status, type and text of an error."""
FAILURES: Mapping[str, Failure] = {
    "rate_limit": (429, "rate_limit_error", "Too many requests."),
    "server_error": (500, "api_error", "Something broke."),
    "overloaded": (529, "overloaded_error", "Overloaded."),
}
"""How requests may be made to fail, by name."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the server listens.

    Attributes:
        openai: `base_url` for OpenAI's format.
        anthropic: `base_url` for Anthropic's format.
    """

    openai: str
    anthropic: str

    @classmethod
    def at(cls, port: int) -> Addresses:
        """Return those of a port."""
        return cls(f"http://{HOST}:{port}/v1", f"http://{HOST}:{port}")


@dataclass
class App:
    """The routes of the server.

    Args:
        brain: what answers.
        models: names of the models that it has, with or without a family before them (`claude-sonnet-5/simulated`).
        latency: seconds that every answer takes.
        failing: returns how a request fails, by its number; None where it is answered.
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
        """Return it as an application of Starlette."""
        # Pages of other sites can be made to name this address; their host's name gives them away.
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
        """Respond to the request of a number.

        Raises:
            BadBody: the request is not of the format.
            starlette.requests.ClientDisconnect: the client has gone.
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
        """Answer a request that was read."""
        del http, body  # for servers that do more with them
        if (failure := self.failing(number)) is not None:
            status, kind, text = failure
            return as_json(wire.error(kind, text), status)
        return as_json(wire.write(await self.brain.complete(asked.request), asked, number))


async def read_body(http: HttpRequest, most_bytes: int, seconds: float) -> Mapping[str, Any]:
    """Read the body of a request as a JSON object.

    Browsers send another site's words as JSON only if the server allows it, which this one does not.

    Args:
        http: the request.
        most_bytes: bound on its length.
        seconds: bound on the time that it takes to arrive.

    Raises:
        BadBody: it is no JSON object, or exceeds a bound.
    """
    if http.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise BadBody("content-type: application/json is needed", 415)
    try:
        body = orjson.loads(await read_bytes(http, most_bytes, seconds))
    except orjson.JSONDecodeError as error:
        raise BadBody(f"the body is no JSON: {error}") from None
    if not isinstance(body, dict):
        raise BadBody("the body is no JSON object")
    return body


async def read_bytes(http: HttpRequest, most_bytes: int, seconds: float) -> bytes:
    """Read the body of a request within bounds.

    Raises:
        BadBody: it exceeds a bound.
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
    """Return the response to a body that was refused.

    Of a body that was not read to its end, the rest would be taken for the next request: its connection ends.
    """
    headers = {} if error.status == 400 else {"connection": "close"}
    return as_json(wire.error("invalid_request_error", str(error)), error.status, headers)


def run(app: App, *, port: int = 0, ready: Callable[[Addresses], None] = lambda _: None) -> None:
    """Serve on 127.0.0.1 until the process is interrupted.

    Args:
        app: the application.
        port: 0 for any free one.
        ready: called with the addresses when the port is taken and before the first request is answered.

    Raises:
        OSError: the port is taken.
    """
    config = server_config(app.starlette(), app.connections, timeout_keep_alive=KEEP_ALIVE, log_config=None)
    with contextlib.closing(listen(port)) as listener:
        listener.listen(2048)
        ready(Addresses.at(listener.getsockname()[1]))
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])

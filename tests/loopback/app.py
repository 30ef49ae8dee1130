"""The application of the loopback server: that of the product, with faults."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, ClassVar

import orjson
from starlette.requests import Request as HttpRequest
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from quorum.agents.llm.embeddings import wants_embeddings
from quorum.agents.llm.limits import estimate_prompt
from quorum.agents.llm.protocol import Model, Reply
from quorum.more_providers.serving import app
from quorum.more_providers.serving.app import BODY_SECONDS, MOST_BYTES, as_json
from quorum.more_providers.serving.formats import BadBody, Format, WireRequest
from tests.loopback.batches import AnthropicBatches, Batches, GeminiBatches, OpenAIBatches
from tests.loopback.faults import STATUSES, Fault, FaultKind, Faults, planned, spoil
from tests.loopback.formats import AnthropicFormat, OpenAIEmbeddings, OpenAIFormat
from tests.loopback.gemini import PATH, GeminiFormat
from tests.loopback.prompt_caches import PromptCaches, read_prompt
from tests.loopback.responses import ResponsesFormat

DEFAULT_DRIP = 0.05
_PAGE = "<html><body><h1>Sign in to the network</h1></body></html>"


@dataclass(frozen=True, slots=True)
class BodyBounds:
    """The bounds of a body: its length, and the seconds that it may take to arrive."""

    bytes: int = MOST_BYTES
    seconds: float = BODY_SECONDS


class App(app.App):
    """The routes, and the faults.

    Args:
        brain: what answers.
        models: names of the models that it has.
        faults: what goes wrong, by number of the request.
        latency: seconds that every answer takes.
        context: tokens that a prompt and its longest answer may have together, four characters each; None: any number.
        batches: what becomes of batches; None: they take as long as an answer does.
        prompt_caches: the provider's prompt cache that is simulated; None: there is none.
    """

    formats: ClassVar[Mapping[str, Format]] = {
        "/v1/chat/completions": OpenAIFormat(),
        "/v1/embeddings": OpenAIEmbeddings(),
        "/v1/messages": AnthropicFormat(),
        "/v1/responses": ResponsesFormat(),
        PATH: GeminiFormat(),
    }

    def __init__(
        self,
        brain: Model,
        models: Sequence[str],
        faults: Faults,
        latency: float,
        *,
        context: int | None = None,
        batches: Batches | None = None,
        prompt_caches: PromptCaches | None = None,
    ) -> None:
        super().__init__(brain, models, latency)
        self._faults = faults
        self._context = context
        self._prompt_caches = prompt_caches
        self._batches = Batches(latency) if batches is None else batches
        self._batches.answered_by(brain, models)
        self._stale: set[Any] = set()

    def routes(self) -> list[Route]:
        """Return the routes."""
        batches = [served(self._batches).routes() for served in (OpenAIBatches, AnthropicBatches, GeminiBatches)]
        return [*super().routes(), *(route for routes in batches for route in routes)]

    async def respond(self, http: HttpRequest, wire: Any, number: int) -> Response:
        """Respond to a request, unless its kept connection is dead."""
        if http.client in self._stale:
            self._stale.discard(http.client)
            return self._reset(http.client)
        named = http.path_params.get("model")
        return await super().respond(http, wire if named is None else GeminiFormat(named), number)

    async def answer(
        self, http: HttpRequest, wire: Any, asked: WireRequest, body: Mapping[str, Any], number: int
    ) -> Response:
        """Answer a request, or have its fault happen."""
        fault = planned(self._faults, number)
        tier = wire.tier(body)
        if fault is not None and (refusal := _refusal(http, wire, asked, fault)) is not None:
            return refusal
        prompt, longest = ceil(estimate_prompt(asked.request)), asked.request.sampling.max_tokens
        if self._context is not None and prompt + longest > self._context:
            return as_json(wire.overflow(prompt, longest, self._context), 400)
        if fault is not None and fault.kind is FaultKind.RESET:
            return self._reset(http.client)
        if fault is not None and fault.kind is FaultKind.SILENCE:
            while (await http.receive())["type"] != "http.disconnect":
                pass
            return Response()
        reply = await self._complete(wire, asked, body)
        given = reply if fault is None else spoil(reply, fault, asked.request)
        response = wire.with_tier(wire.write(given, asked, number), tier)
        return as_json(response) if fault is None else self._spoiled(http, wire, response, fault)

    async def _complete(self, wire: Any, asked: WireRequest, body: Mapping[str, Any]) -> Reply:
        """Have the brain answer; the usage says what the prompt cache had of the prompt."""
        if wants_embeddings(asked.request):
            return await self.brain.complete(asked.request)
        try:
            prompt = read_prompt(wire.provider, body)
        except ValueError as error:
            raise BadBody(str(error)) from None
        if self._prompt_caches is None or prompt is None:
            return await self.brain.complete(asked.request)
        looked = self._prompt_caches.look(prompt)
        reply = await self.brain.complete(asked.request)
        self._prompt_caches.keep(looked)
        return replace(reply, usage=looked.usage(reply.usage))

    def _spoiled(self, http: HttpRequest, wire: Any, body: dict[str, Any], fault: Fault) -> Response:
        content = orjson.dumps(body)
        match fault.kind:
            case FaultKind.HTML:
                return HTMLResponse(_PAGE)
            case FaultKind.BROKEN_JSON:
                return Response(content[: len(content) // 2], media_type="application/json")
            case FaultKind.NO_CHOICES:
                return as_json(wire.without_answer(body))
            case FaultKind.NO_USAGE:
                return as_json({name: value for name, value in body.items() if not name.startswith("usage")})
            case FaultKind.DRIP:
                pace = DEFAULT_DRIP if fault.seconds is None else fault.seconds
                return StreamingResponse(_drip(content, pace), media_type="application/json")
            case FaultKind.RESET_HALFWAY:
                return StreamingResponse(self._half(content, http.client), media_type="application/json")
            case FaultKind.STALE:
                self._stale.add(http.client)
        return Response(content, media_type="application/json")

    async def _half(self, content: bytes, client: Any) -> AsyncIterator[bytes]:
        yield content[: len(content) // 2]
        await asyncio.sleep(DEFAULT_DRIP)
        self._reset(client)

    def _reset(self, client: Any) -> Response:
        """Cut a connection so that the other side sees a reset."""
        transport = self.connections.open[client]
        linger = struct.pack("ii", 1, 0)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        transport.abort()
        return Response()


async def _drip(content: bytes, pace: float) -> AsyncIterator[bytes]:
    for place in range(len(content)):
        yield content[place : place + 1]
        await asyncio.sleep(pace)


def _refusal(http: HttpRequest, wire: Format, asked: WireRequest, fault: Fault) -> Response | None:
    """Return the response of a fault that is a plain HTTP error."""
    if fault.kind is FaultKind.UNAUTHORIZED:
        sent = "".join(http.headers.get(name, "") for name in ("authorization", "x-api-key", "x-goog-api-key"))
        return as_json(wire.error("authentication_error", f"Wrong API key: {sent}"), 401)
    structured = asked.request.answer is not None
    idle = {
        FaultKind.NO_SCHEMA: not structured or asked.tool,
        FaultKind.NO_TOOLS: not structured,
        FaultKind.NO_TEMPERATURE: asked.request.sampling.temperature is None,
    }
    if fault.kind not in STATUSES or idle.get(fault.kind, False):
        return None
    status, kind, text = STATUSES[fault.kind]
    headers = {"retry-after": f"{fault.seconds:g}"} if fault.seconds is not None else {}
    return as_json(wire.error(kind, text), status, headers)

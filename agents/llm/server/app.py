"""The application behind the server: a brain behind both formats, with faults."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from math import ceil
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from quorum.agents.llm.embeddings import wants_embeddings
from quorum.agents.llm.errors import LanguageModelError, RequestRefused
from quorum.agents.llm.limits import estimate_prompt
from quorum.agents.llm.protocol import Model, Reply, Request
from quorum.agents.llm.server.batches import AnthropicBatches, Batches, OpenAIBatches
from quorum.agents.llm.server.bodies import BodyBounds, RefusedBody, read_body
from quorum.agents.llm.server.connections import Connections
from quorum.agents.llm.server.embeddings import OpenAIEmbeddings
from quorum.agents.llm.server.faults import STATUSES, Fault, FaultKind, Faults, planned, spoil
from quorum.agents.llm.server.formats import AnthropicFormat, BadBody, Format, OpenAIFormat, WireRequest
from quorum.agents.llm.server.prompt_cache import Prompt, PromptCaches, read_prompt

HOST = "127.0.0.1"
DEFAULT_DRIP = 0.05
_PAGE = "<html><body><h1>Sign in to the network</h1></body></html>"


class App:
    """The routes, the faults, and the bounds of what is read.

    Args:
        brain: what answers.
        models: names of models that are known, with any family in front (`claude-sonnet-5/simulated`), by whose rules
            prompts are then kept.
        faults: what goes wrong, by number of the request.
        latency: seconds that every answer takes.
        context: tokens that a prompt and its longest answer may have together; None for any number. Tokens of prompts
            are estimated as everywhere here, four characters each.
        batches: what becomes of batches; None: they take as long as an answer does.
    """

    def __init__(
        self,
        brain: Model,
        models: Sequence[str],
        faults: Faults,
        latency: float,
        *,
        context: int | None = None,
        batches: Batches | None = None,
    ) -> None:
        self._brain = brain
        self._models = models
        self._faults = faults
        self._latency = latency
        self._context = context
        self._batches = Batches(latency) if batches is None else batches
        self._batches.answered_by(brain, models)
        self._number = 0
        self.prompt_caches: PromptCaches | None = None
        """The provider's prompt cache that is played; None: there is none."""
        self.bodies = BodyBounds()
        self.connections = Connections()

    def starlette(self) -> Starlette:
        """Return it as an application of Starlette."""
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self._route(OpenAIFormat()), methods=["POST"]),
                Route("/v1/embeddings", self._route(OpenAIEmbeddings()), methods=["POST"]),
                Route("/v1/messages", self._route(AnthropicFormat()), methods=["POST"]),
                Route("/v1/models", self._list, methods=["GET"]),
                *OpenAIBatches(self._batches).routes(),
                *AnthropicBatches(self._batches).routes(),
            ],
            # Pages of other sites can be made to name this address; their host's name gives them away.
            middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])],
        )

    async def _list(self, request: HttpRequest) -> Response:
        if "anthropic-version" in request.headers:
            listed: list[dict[str, Any]] = [
                {"type": "model", "id": m, "display_name": m, "created_at": "1970-01-01T00:00:00Z"}
                for m in self._models
            ]
            return _json({"data": listed, "has_more": False, "first_id": None, "last_id": None})
        listed = [{"id": m, "object": "model", "created": 0, "owned_by": "quorum"} for m in self._models]
        return _json({"object": "list", "data": listed})

    def _route(self, wire: Format) -> Callable[[HttpRequest], Any]:
        async def answer(http: HttpRequest) -> Response:
            number, self._number = self._number, self._number + 1
            fault = planned(self._faults, number)
            if http.client in self.connections.stale:
                self.connections.reset(http.client)
                return Response()
            try:
                content = await read_body(http, self.bodies)
                asked = wire.read(content)
                prompt = None if wants_embeddings(asked.request) else read_prompt(wire.provider, content)
            except ClientDisconnect:
                return Response()
            except RefusedBody as error:  # what is left of it would be taken for the next request
                body = wire.error("invalid_request_error", str(error))
                return _json(body, error.status, {"connection": "close"})
            except BadBody as error:
                return _json(wire.error("invalid_request_error", str(error)), 400)
            if asked.model not in self._models and asked.model.rpartition("/")[2] not in self._models:
                return _json(wire.error("not_found_error", f"model: {asked.model} is not known"), 404)
            if self._latency:
                await asyncio.sleep(self._latency)
            refused = _refusal(http, wire, asked, fault)
            if refused is not None:
                return refused
            if (overflow := self._overflow(wire, asked.request)) is not None:
                return overflow
            if fault is not None and fault.kind in {FaultKind.SILENCE, FaultKind.RESET}:
                return await self._no_answer(http, fault)
            try:
                reply = await self._complete(asked.request, prompt)
            except RequestRefused as error:
                return _json(wire.error("invalid_request_error", str(error)), 400)
            except LanguageModelError as error:
                return _json(wire.error("api_error", f"{type(error).__name__}: {error}"), 500)
            if fault is None:
                return _json(wire.write(reply, asked, number))
            return self._spoiled(http, wire, wire.write(spoil(reply, fault, asked.request), asked, number), fault)

        return answer

    async def _complete(self, request: Request, prompt: Prompt | None) -> Reply:
        """Have the brain answer, and tell what its prompt cache had of the prompt."""
        if self.prompt_caches is None or prompt is None:
            return await self._brain.complete(request)
        looked = self.prompt_caches.look(prompt)
        reply = await self._brain.complete(request)
        self.prompt_caches.keep(looked)
        return replace(reply, usage=looked.usage(reply.usage))

    def _overflow(self, wire: Format, request: Request) -> Response | None:
        """Return the response to a request that the context has no room for."""
        if self._context is None:
            return None
        prompt = ceil(estimate_prompt(request))
        answer = request.sampling.max_tokens
        return _json(wire.overflow(prompt, answer, self._context), 400) if prompt + answer > self._context else None

    async def _no_answer(self, http: HttpRequest, fault: Fault) -> Response:
        if fault.kind is FaultKind.RESET:
            self.connections.reset(http.client)
            return Response()
        while (await http.receive())["type"] != "http.disconnect":
            pass
        return Response()

    def _spoiled(self, http: HttpRequest, wire: Format, body: dict[str, Any], fault: Fault) -> Response:
        content = orjson.dumps(body)
        match fault.kind:
            case FaultKind.HTML:
                return HTMLResponse(_PAGE)
            case FaultKind.BROKEN_JSON:
                return Response(content[: len(content) // 2], media_type="application/json")
            case FaultKind.NO_CHOICES:
                return _json(wire.without_answer(body))
            case FaultKind.NO_USAGE:
                return _json({name: value for name, value in body.items() if name != "usage"})
            case FaultKind.DRIP:
                pace = DEFAULT_DRIP if fault.seconds is None else fault.seconds
                return StreamingResponse(_drip(content, pace), media_type="application/json")
            case FaultKind.RESET_HALFWAY:
                return StreamingResponse(self._half(content, http.client), media_type="application/json")
            case FaultKind.STALE:
                self.connections.stale.add(http.client)
        return Response(content, media_type="application/json")

    async def _half(self, content: bytes, client: Any) -> AsyncIterator[bytes]:
        yield content[: len(content) // 2]
        await asyncio.sleep(DEFAULT_DRIP)
        self.connections.reset(client)


async def _drip(content: bytes, pace: float) -> AsyncIterator[bytes]:
    for place in range(len(content)):
        yield content[place : place + 1]
        await asyncio.sleep(pace)


def _refusal(http: HttpRequest, wire: Format, asked: WireRequest, fault: Fault | None) -> Response | None:
    """Return the response of a fault that is a plain HTTP error."""
    if fault is None:
        return None
    if fault.kind is FaultKind.UNAUTHORIZED:
        sent = http.headers.get("authorization", "") + http.headers.get("x-api-key", "")
        return _json(wire.error("authentication_error", f"Wrong API key: {sent}"), 401)
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
    return _json(wire.error(kind, text), status, headers)


def _json(body: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(orjson.dumps(body), status, headers, media_type="application/json")

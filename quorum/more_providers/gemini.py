"""Google's Gemini, through the official SDK. An optional extra, because its import takes half a second.

Sources, read on 2026-11-26: the types of google-genai 3.6; ai.google.dev/gemini-api/docs (structured output, thinking,
thought signatures, priority inference, batch API).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import orjson

from quorum.agents.llm.errors import BadRequest, BrokenResponse, LanguageModelError, TimedOut
from quorum.agents.llm.prices import read_tier
from quorum.agents.llm.protocol import ChatMessage, ChatRole, Finish, Reply, Request, Structured, Usage
from quorum.agents.llm.providers.base import Provider
from quorum.agents.llm.providers.bounded import Bounds, bounded_client, trusted
from quorum.agents.llm.providers.content import gemini_image, gemini_part, with_pictures
from quorum.agents.llm.providers.refusals import Offer
from quorum.agents.llm.providers.thinking import gemini_thinking
from quorum.agents.llm.providers.usage import added, count, counted_usage, part_of
from quorum.agents.llm.providers.wording import printable_unicode, with_schema_in_words, written_call

INSTALL = "pip install 'quorum-harness[gemini]'"
VERSION = "v1beta"
"""The API version that documents everything sent here (the SDK 3.6 defaults to v1)."""
_CUT_OFF = frozenset({"MAX_TOKENS", "CONTINUATION"})
_REFUSED = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR"})
_SIGNATURE = "thoughtSignature"
_WRONG_KEY = "API_KEY_INVALID"
_TIER = "x-gemini-service-tier"
_OF_THE_CALL = frozenset({"model", "contents", "generationConfig"})


@dataclass(frozen=True, slots=True)
class GeminiClient:
    """The SDK's client, with the connections, which the SDK does not close itself."""

    sdk: Any
    connections: Any

    async def close(self) -> None:
        """Close the connections."""
        self.sdk.close()
        await self.connections.aclose()


class GeminiModel(Provider):
    """A Google model behind the Gemini API. Addresses end before `/v1beta`.

    Request bodies have the API's format, and the SDK validates them against its types. Thought signatures are carried.

    Raises:
        ImportError: google-genai is not installed; the message says how to install it.
    """

    name: ClassVar[str] = "gemini"
    _own_address: ClassVar[str | None] = "https://generativelanguage.googleapis.com"
    usual_key: ClassVar[str | None] = "GEMINI_API_KEY"

    def _import(self) -> Any:
        try:
            import httpx2  # noqa: PLC0415 (with the SDK)
            from google import genai  # noqa: PLC0415 (an extra)
        except ImportError as error:
            raise ImportError(f"google-genai is not installed: {INSTALL}") from error
        self._http = httpx2
        return genai

    def _connect(self, base_url: str | None) -> str:
        self._client = self._make_client(base_url, self._bounds)
        return base_url or ""

    def _make_client(self, base_url: str | None, bounds: Bounds) -> GeminiClient:
        connections = bounded_client(self._http.AsyncClient, bounds, base_url, follow_redirects=True)
        certificates = trusted(self._http.__name__)
        options = self._sdk.types.HttpOptions(
            base_url=base_url,
            api_version=VERSION,
            headers=self._headers,
            httpx_async_client=connections,
            # The SDK creates clients that are never used, and would load certificates and proxies again for each.
            client_args={"verify": certificates, "trust_env": False},
            async_client_args={"ssl": certificates},
        )
        # Set the key, the version and the API explicitly; otherwise the SDK reads them from the environment.
        client = self._sdk.Client(vertexai=False, api_key=self._key.reveal(), http_options=options)
        return GeminiClient(client, connections)

    def _body(self, request: Request, offer: Offer) -> dict[str, Any]:
        sampling, answer = offer.sampling, request.answer
        messages = list(request.messages)
        body: dict[str, Any] = {"model": self.model}
        wanted: dict[str, Any] = {
            "maxOutputTokens": offer.longest,
            "temperature": sampling.temperature,
            "topP": sampling.top_p,
            "seed": sampling.seed,
            "stopSequences": None if sampling.stop is None else list(sampling.stop),
        }
        if answer is not None and offer.structured is Structured.SCHEMA:
            wanted |= {"responseMimeType": "application/json", "responseJsonSchema": answer.schema}
        elif answer is not None and offer.structured is Structured.TOOLS:
            function = {"name": answer.name, "description": "Give the answer.", "parametersJsonSchema": answer.schema}
            body["tools"] = [{"functionDeclarations": [function]}]
            forced = {"mode": "ANY", "allowedFunctionNames": [answer.name]} if offer.forced else {"mode": "AUTO"}
            body["toolConfig"] = {"functionCallingConfig": forced}
        else:
            messages = with_schema_in_words(messages, answer)
        system = [gemini_part(message.content) for message in messages if message.role is ChatRole.SYSTEM]
        if system:
            body["systemInstruction"] = {"parts": system}
        wanted |= gemini_thinking(sampling, self._family, show=self._keep_thinking)
        body["generationConfig"] = {name: value for name, value in wanted.items() if value is not None}
        body["contents"] = [_content(message) for message in messages if message.role is not ChatRole.SYSTEM]
        return body

    async def _send(self, body: Mapping[str, Any], deadline: float) -> Any:
        arguments = call_arguments(self._sdk.types, body)
        arguments["config"].http_options.timeout = round(deadline * 1000)
        try:
            return await self._client.sdk.aio.models.generate_content(model=self.model, **arguments)
        except (AttributeError, TypeError) as error:
            raise BrokenResponse(f"a success that is not an object ({type(error).__name__})") from None

    def _read(self, response: Any, request: Request) -> Reply:
        blocked = response.prompt_feedback
        if not response.candidates and not (blocked and blocked.block_reason):
            raise BrokenResponse("a success without candidates")
        text, thinking, finish, signatures = "", "", Finish.REFUSAL, []
        if response.candidates:
            candidate = response.candidates[0]
            if candidate.finish_reason is None:
                raise BrokenResponse("a success whose answer is incomplete")
            finish = _finish(candidate.finish_reason.name)
            parts = (candidate.content.parts if candidate.content else None) or []
            thinking = "".join(part.text or "" for part in parts if part.thought)
            answers = [part for part in parts if not part.thought]
            calls = [part.function_call.args for part in answers if part.function_call]
            text = written_call(calls[0], finish) if calls else "".join(part.text or "" for part in answers)
            signatures = [] if calls else [part for part in answers if part.thought_signature]
        else:
            text = blocked.block_reason_message or ""
        counts = response.usage_metadata and response.usage_metadata.model_dump(by_alias=True)
        headers = (response.sdk_http_response and response.sdk_http_response.headers) or {}
        return Reply(
            text=printable_unicode(text),
            finish=finish,
            usage=self._usage(counts, request, text, thinking),
            usd=None,
            seconds=0.0,
            model=printable_unicode(response.model_version or self.model),
            thinking=printable_unicode(thinking),
            tier=read_tier(headers.get(_TIER)),
            carried=tuple(
                part.model_dump(mode="json", by_alias=True, include={"thought_signature"}) for part in signatures[-1:]
            ),
        )

    def _usage(self, usage: Any, request: Request, text: str, thinking: str) -> Usage:
        return gemini_usage(usage, request, text, thinking)

    def _failure_of_sdk(self, error: Exception) -> LanguageModelError | None:
        if isinstance(error, self._sdk.errors.APIError):
            status = 401 if _WRONG_KEY in str(error.details) else error.code
            said = {"message": error.message, "code": error.status}
            return self._translate_status(status, said, str(error), _headers(error))
        if isinstance(error, self._http.ConnectTimeout):
            return TimedOut(f"no connection within {self._bounds.connect:g} s (llm.connect_timeout)")
        return TimedOut("the SDK's own time-out is over") if isinstance(error, self._http.TimeoutException) else None


def call_arguments(types: Any, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the contents and the configuration with which the SDK sends an API body.

    Fields unknown to its types go to `http_options.extra_body`, which batches cannot send.

    Args:
        types: the SDK's types.
        body: the request body.

    Raises:
        BadRequest: a field has a form that the types do not know.
    """
    wanted = dict(body["generationConfig"])
    others = {name: value for name, value in body.items() if name not in _OF_THE_CALL}
    names = {name for key, field in types.GenerateContentConfig.model_fields.items() for name in (key, field.alias)}
    extra = {name: value for name, value in others.items() if name not in names}
    if unknown := {name: value for name, value in wanted.items() if name not in names}:
        extra["generationConfig"] = unknown
    said = {name: value for name, value in (wanted | others).items() if name in names}
    try:
        config = types.GenerateContentConfig.model_validate_json(orjson.dumps(said))
        contents = [types.Content.model_validate_json(orjson.dumps(content)) for content in body["contents"]]
    except ValueError as error:
        raise BadRequest(f"google-genai rejects the request: {error}") from None
    config.automatic_function_calling = types.AutomaticFunctionCallingConfig(disable=True)
    config.automatic_continuation = False
    config.http_options = types.HttpOptions(extra_body=extra or None)
    return {"contents": contents, "config": config}


def _content(message: ChatMessage) -> dict[str, Any]:
    """Return a message; an assistant message includes the signature of the thoughts that led to it."""
    if message.role is ChatRole.ASSISTANT:
        signatures = [item for item in message.carried if _SIGNATURE in item]
        signed = signatures[-1] if signatures else {}
        return {"role": "model", "parts": [{**gemini_part(message.content), **signed}]}
    parts = with_pictures([gemini_part(message.content)], message.pictures, gemini_image, gemini_part)
    return {"role": "user", "parts": parts}


def gemini_usage(usage: Any, request: Request, text: str, thinking: str) -> Usage:
    """Read the usage of a response, as JSON: thoughts are counted separately from the answer."""
    thoughts = count(part_of(usage, "thoughtsTokenCount")) or 0
    return counted_usage(
        part_of(usage, "promptTokenCount"),
        added(count(part_of(usage, "candidatesTokenCount")) or 0, thoughts) if usage else None,
        part_of(usage, "cachedContentTokenCount"),
        0,
        request=request,
        text=text,
        reasoning=thoughts if usage else None,
        thinking=thinking,
    )


def _finish(reason: str) -> Finish:
    if reason in _CUT_OFF:
        return Finish.LENGTH
    return Finish.REFUSAL if reason in _REFUSED else Finish.STOP


def _headers(error: Any) -> Mapping[str, str]:
    """Return the headers of a failure, adding the delay from its body (`RetryInfo`) if no header gives one."""
    headers = dict(error.response.headers)
    try:
        delays = [str(detail["retryDelay"]) for detail in error.details["error"]["details"] if "retryDelay" in detail]
    except (TypeError, KeyError):
        delays = []
    return headers if "retry-after" in headers or not delays else {**headers, "retry-after": delays[0].rstrip("s")}

"""The Gemini API on the server's side. What it answers is built from the SDK's own types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Finish, Reply, Request, Sampling
from quorum.agents.llm.protocol import ThinkingEffort as Effort
from quorum.more_providers.serving.formats import DEFAULT_MAX_TOKENS, BadBody, Format, WireRequest, part, read_content
from tests.loopback.formats import read_effort

PATH = "/v1beta/models/{model}:generateContent"
_ROLES = {"user": ChatRole.USER, "model": ChatRole.ASSISTANT}
_FINISHES = {Finish.STOP: "STOP", Finish.LENGTH: "MAX_TOKENS", Finish.REFUSAL: "PROHIBITED_CONTENT"}
_SIGNATURE = "c2ltdWxhdGVk"


class GeminiFormat(Format):
    """Gemini's contents, of models that think, with signatures of their thoughts.

    Args:
        model: that the path names.
    """

    provider = "gemini"

    def __init__(self, model: str = "") -> None:
        self._model = model

    def read(self, body: Mapping[str, Any]) -> WireRequest:
        """Read the body of a request; that of a batch names the model itself."""
        model = self._model or str(body.get("model", "")).removeprefix("models/")
        tools = body.get("tools") or []
        tool = tools[0]["functionDeclarations"][0] if tools else None
        request = Request(self._messages(body), self._wanted(body, tool), self._sampling(body))
        return WireRequest(model, request, tool is not None)

    def _messages(self, body: Mapping[str, Any]) -> tuple[ChatMessage, ...]:
        contents = body.get("contents")
        if not isinstance(contents, list) or not contents:
            raise BadBody("contents: at least one is needed")
        system = body.get("systemInstruction")
        first = [] if system is None else [_read(ChatRole.SYSTEM, system)]
        return (*first, *(_read(_ROLES[content["role"]], content) for content in contents))

    def _sampling(self, body: Mapping[str, Any]) -> Sampling:
        config = body.get("generationConfig") or {}
        thinking = config.get("thinkingConfig") or {}
        budget, level = (_either(thinking, f"thinking_{name}") for name in ("budget", "level"))
        return Sampling(
            config.get("temperature"),
            self._max_tokens(body),
            seed=config.get("seed"),
            effort=Effort.NONE if budget == 0 else read_effort(level and level.lower()),
            thinking_tokens=budget or None,
        )

    def _max_tokens(self, body: Mapping[str, Any]) -> int:
        return int((body.get("generationConfig") or {}).get("maxOutputTokens", DEFAULT_MAX_TOKENS))

    def _wanted(self, body: Mapping[str, Any], tool: Mapping[str, Any] | None) -> AnswerFormat | None:
        config = body.get("generationConfig") or {}
        if "responseJsonSchema" in config:
            return AnswerFormat("answer", part(config, "responseJsonSchema"))
        return None if tool is None else AnswerFormat(tool["name"], _either(tool, "parameters_json_schema"))

    def write(self, reply: Reply, asked: WireRequest, number: int) -> dict[str, Any]:
        """Write a reply to the request of a number."""
        from google.genai import types

        usage = reply.usage
        thoughts = [{"text": reply.thinking, "thought": True}] if usage.reasoning else []
        signed = {"thoughtSignature": _SIGNATURE} if usage.reasoning else {}
        response = {
            "candidates": [
                {
                    "content": {"role": "model", "parts": [*thoughts, {**_answer(reply, asked), **signed}]},
                    "finishReason": _FINISHES[reply.finish],
                    "index": 0,
                }
            ],
            "modelVersion": asked.model,
            "responseId": f"response-{number}",
            "usageMetadata": {
                "promptTokenCount": usage.prompt,
                "cachedContentTokenCount": usage.cached,
                "candidatesTokenCount": usage.completion - usage.reasoning,
                "thoughtsTokenCount": usage.reasoning,
                "totalTokenCount": usage.prompt + usage.completion,
            },
        }
        typed = types.GenerateContentResponse.model_validate(response)
        return typed.model_dump(mode="json", by_alias=True, exclude_none=True)

    def error(self, kind: str, text: str) -> dict[str, Any]:
        """Write an error."""
        return {"error": {"code": 400, "message": text, "status": kind}}

    def tier(self, _body: Mapping[str, Any]) -> str:
        """Return the tier of service that answers a request: a header says it, which this server does not send."""
        return ""

    def with_tier(self, response: dict[str, Any], _tier: str) -> dict[str, Any]:
        """Return the response."""
        return response

    def without_answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Take the answer out of a response."""
        return {**body, "candidates": []}

    def overflow(self, prompt: int, answer: int, context: int) -> dict[str, Any]:
        """Write the error that the context is exceeded; all numbers are tokens."""
        text = f"The input token count ({prompt}) exceeds the maximum number of tokens allowed ({context})."
        return self.error("INVALID_ARGUMENT", text)


def _read(role: ChatRole, content: Mapping[str, Any]) -> ChatMessage:
    parts = content["parts"]
    text, pictures = read_content([_read_part(piece) for piece in parts])
    signatures = ({"thoughtSignature": piece["thoughtSignature"]} for piece in parts if "thoughtSignature" in piece)
    return ChatMessage(role, text, pictures=pictures, carried=tuple(signatures))


def _read_part(piece: Mapping[str, Any]) -> Mapping[str, Any]:
    if (picture := piece.get("inlineData")) is None:
        return {"type": "text", "text": piece["text"]}
    data = picture["data"].replace("-", "+").replace("_", "/")  # the SDK writes base64 for addresses
    return {"type": "image_url", "image_url": {"url": f"data:{_either(picture, 'mime_type')};base64,{data}"}}


def _answer(reply: Reply, asked: WireRequest) -> dict[str, Any]:
    """Return the part of an answer. The arguments of a function are JSON here: other text is sent as text."""
    if asked.tool and asked.request.answer is not None and reply.finish is Finish.STOP:
        try:
            given = orjson.loads(reply.text)
        except ValueError:
            given = None
        if isinstance(given, dict):
            return {"functionCall": {"name": asked.request.answer.name, "args": given}}
    return {"text": reply.text}


def _either(body: Mapping[str, Any], name: str) -> Any:
    """Return the value of a field that the SDK writes in one way or the other."""
    first, *others = name.split("_")
    return body.get(name, body.get(first + "".join(map(str.capitalize, others))))

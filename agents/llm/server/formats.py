"""The two formats of the wire: requests read into ours, replies written as theirs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Finish, Reply, Request, Sampling

DEFAULT_MAX_TOKENS = 4096


class BadBody(ValueError):
    """A body that the format does not allow; the text says why."""


@dataclass(frozen=True, slots=True)
class WireRequest:
    """What the body of a request asks.

    Attributes:
        model: name of the model.
        request: the request, as ours.
        tool: whether the answer is wanted as the call of a tool.
    """

    model: str
    request: Request
    tool: bool


class Format(Protocol):
    """One format of the wire."""

    def read(self, body: Mapping[str, Any]) -> WireRequest:
        """Read the body of a request.

        Raises:
            BadBody: it is not of the format, or asks what this server does not do.
        """

    def write(self, reply: Reply, asked: WireRequest, number: int) -> dict[str, Any]:
        """Write a reply."""

    def without_answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Take the answer out of a response."""

    def error(self, kind: str, text: str) -> dict[str, Any]:
        """Write an error."""


class OpenAIFormat:
    """OpenAI's chat completions."""

    def read(self, body: Mapping[str, Any]) -> WireRequest:
        """Read the body of a request."""
        _refuse_streams(body)
        messages = tuple(
            ChatMessage(_role(message.get("role")), _text(message.get("content"))) for message in _messages(body)
        )
        wanted, tools = body.get("response_format"), body.get("tools")
        answer: AnswerFormat | None = None
        if isinstance(wanted, Mapping) and wanted.get("type") == "json_schema":
            answer = AnswerFormat(str(wanted["json_schema"].get("name", "answer")), wanted["json_schema"]["schema"])
        elif tools:
            answer = AnswerFormat(tools[0]["function"]["name"], tools[0]["function"]["parameters"])
        sampling = Sampling(
            temperature=body.get("temperature"),
            max_tokens=body.get("max_completion_tokens") or body.get("max_tokens") or DEFAULT_MAX_TOKENS,
            seed=body.get("seed"),
        )
        return WireRequest(_model(body), Request(messages, answer, sampling), tool=bool(tools))

    def write(self, reply: Reply, asked: WireRequest, number: int) -> dict[str, Any]:
        """Write a reply."""
        message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": None}
        finish = {Finish.STOP: "stop", Finish.LENGTH: "length", Finish.REFUSAL: "content_filter"}[reply.finish]
        if reply.finish is Finish.REFUSAL:
            message |= {"content": None, "refusal": reply.text}
        elif asked.tool and asked.request.answer is not None:
            function = {"name": asked.request.answer.name, "arguments": reply.text}
            message |= {
                "content": None,
                "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}],
            }
            finish = "tool_calls" if reply.finish is Finish.STOP else finish
        usage = reply.usage
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 0,
            "model": asked.model,
            "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
            "usage": {
                "prompt_tokens": usage.prompt,
                "completion_tokens": usage.completion,
                "total_tokens": usage.prompt + usage.completion,
                "prompt_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": usage.cache_written},
            },
        }

    def without_answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Take the answer out of a response."""
        return {**body, "choices": []}

    def error(self, kind: str, text: str) -> dict[str, Any]:
        """Write an error."""
        return {"error": {"message": text, "type": kind, "param": None, "code": kind}}


class AnthropicFormat:
    """Anthropic's messages."""

    def read(self, body: Mapping[str, Any]) -> WireRequest:
        """Read the body of a request."""
        _refuse_streams(body)
        if not isinstance(body.get("max_tokens"), int):
            raise BadBody("max_tokens: Field required")
        messages = [
            ChatMessage(_role(message.get("role")), _text(message.get("content"))) for message in _messages(body)
        ]
        if body.get("system"):
            messages.insert(0, ChatMessage(ChatRole.SYSTEM, _text(body["system"])))
        wanted = (body.get("output_config") or {}).get("format") or body.get("output_format")
        tools = body.get("tools")
        answer: AnswerFormat | None = None
        if isinstance(wanted, Mapping) and wanted.get("type") == "json_schema":
            answer = AnswerFormat("answer", wanted["schema"])
        elif tools:
            answer = AnswerFormat(tools[0]["name"], tools[0]["input_schema"])
        sampling = Sampling(temperature=body.get("temperature"), max_tokens=body["max_tokens"])
        return WireRequest(_model(body), Request(tuple(messages), answer, sampling), tool=bool(tools))

    def write(self, reply: Reply, asked: WireRequest, number: int) -> dict[str, Any]:
        """Write a reply. A tool's input is JSON on this wire: what is none is sent as text."""
        finish = {Finish.STOP: "end_turn", Finish.LENGTH: "max_tokens", Finish.REFUSAL: "refusal"}[reply.finish]
        content: list[dict[str, Any]] = [{"type": "text", "text": reply.text}]
        if asked.tool and asked.request.answer is not None and reply.finish is Finish.STOP:
            try:
                given = json.loads(reply.text)
            except ValueError:
                given = None
            if isinstance(given, dict):
                name = asked.request.answer.name
                content = [{"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}]
                finish = "tool_use"
        usage = reply.usage
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": asked.model,
            "content": content,
            "stop_reason": finish,
            "stop_sequence": None,
            "usage": {
                "input_tokens": usage.prompt - usage.cached - usage.cache_written,
                "cache_read_input_tokens": usage.cached,
                "cache_creation_input_tokens": usage.cache_written,
                "output_tokens": usage.completion,
            },
        }

    def without_answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Take the answer out of a response."""
        return {**body, "content": None}

    def error(self, kind: str, text: str) -> dict[str, Any]:
        """Write an error."""
        return {"type": "error", "error": {"type": kind, "message": text}}


def _refuse_streams(body: Mapping[str, Any]) -> None:
    if body.get("stream"):
        raise BadBody("stream: this server does not stream")
    if body.get("n", 1) != 1:
        raise BadBody("n: this server gives one answer")


def _messages(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(m, Mapping) for m in messages):
        raise BadBody("messages: at least one message is needed")
    return messages


def _model(body: Mapping[str, Any]) -> str:
    model = body.get("model")
    if not isinstance(model, str):
        raise BadBody("model: Field required")
    return model


def _role(role: Any) -> ChatRole:
    try:
        return ChatRole("system" if role == "developer" else role)
    except ValueError:
        raise BadBody(f"role: {role!r} is not known here") from None


def _text(content: Any) -> str:
    """Return the text of a message, which may come in blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(b, Mapping) and b.get("type") == "text" for b in content):
        return "\n\n".join(str(block["text"]) for block in content)
    raise BadBody("content: only text is known here")

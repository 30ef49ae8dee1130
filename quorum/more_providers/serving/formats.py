"""The server side of the OpenAI and Anthropic formats: reads requests and writes replies."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quorum.agents.llm.pictures import Picture, read_png
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Finish, Reply, Request, Sampling, Usage

DEFAULT_MAX_TOKENS = 4096
_DATA = "data:image/png;base64,"
DEEPEST_SCHEMA = 100
"""Maximum nesting of a schema: far more than our schemas have, far less than Python's stack."""


class BadBody(ValueError):
    """The body of a request is refused; the text gives the reason.

    Attributes:
        status: HTTP status of the response.
    """

    def __init__(self, why: str, status: int = 400) -> None:
        super().__init__(why)
        self.status = status


@dataclass(frozen=True, slots=True)
class WireRequest:
    """A parsed request body.

    Attributes:
        model: name of the model.
        request: the request in our format.
        tool: whether the answer should be a tool call.
    """

    model: str
    request: Request
    tool: bool


class Format(ABC):
    """One provider's format. Subclasses define its fields."""

    def read(self, body: Mapping[str, Any]) -> WireRequest:
        """Read the body of a request.

        Raises:
            BadBody: it does not match the format, or asks for an unsupported feature.
        """
        if body.get("stream"):
            raise BadBody("stream: this server does not stream")
        if body.get("n", 1) != 1:
            raise BadBody("n: this server gives one answer")
        model = body.get("model")
        if not isinstance(model, str):
            raise BadBody("model: Field required")
        tools = body.get("tools") or []
        if not isinstance(tools, list) or not all(isinstance(tool, Mapping) for tool in tools):
            raise BadBody("tools: a list of tools is needed")
        answer = self._wanted(body, tools[0] if tools else None)
        return WireRequest(model, Request(self._messages(body), answer, self._sampling(body)), bool(tools))

    def _messages(self, body: Mapping[str, Any]) -> tuple[ChatMessage, ...]:
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages or not all(isinstance(m, Mapping) for m in messages):
            raise BadBody("messages: at least one message is needed")
        return tuple(_message(message.get("role"), message.get("content")) for message in messages)

    def _sampling(self, body: Mapping[str, Any]) -> Sampling:
        temperature = body.get("temperature")
        if temperature is not None and (not isinstance(temperature, int | float) or isinstance(temperature, bool)):
            raise BadBody("temperature: a number is needed")
        return Sampling(temperature, self._max_tokens(body), seed=integer(body, "seed"))

    @abstractmethod
    def _wanted(self, body: Mapping[str, Any], tool: Mapping[str, Any] | None) -> AnswerFormat | None:
        """Return the answer schema; None for free text."""

    @abstractmethod
    def _max_tokens(self, body: Mapping[str, Any]) -> int:
        """Return the maximum length of the answer, in tokens."""

    @abstractmethod
    def write(self, reply: Reply, asked: WireRequest, number: int) -> dict[str, Any]:
        """Write a reply to the request with a number."""

    @abstractmethod
    def error(self, kind: str, text: str) -> dict[str, Any]:
        """Write an error."""


class OpenAIFormat(Format):
    """OpenAI's chat completions."""

    def _wanted(self, body: Mapping[str, Any], tool: Mapping[str, Any] | None) -> AnswerFormat | None:
        wanted = body.get("response_format")
        if isinstance(wanted, Mapping) and wanted.get("type") == "json_schema":
            form = part(wanted, "json_schema")
            return _form(form.get("name", "answer"), form, "schema")
        if tool is None:
            return None
        function = part(tool, "function")
        return _form(function.get("name"), function, "parameters")

    def _max_tokens(self, body: Mapping[str, Any]) -> int:
        return integer(body, "max_completion_tokens") or integer(body, "max_tokens") or DEFAULT_MAX_TOKENS

    def write(self, reply: Reply, asked: WireRequest, number: int) -> dict[str, Any]:
        """Write a reply to the request with a number."""
        message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": None}
        finish = {Finish.STOP: "stop", Finish.LENGTH: "length", Finish.REFUSAL: "content_filter"}[reply.finish]
        if reply.finish is Finish.REFUSAL:
            message |= {"content": None, "refusal": reply.text}
        elif asked.tool and asked.request.answer is not None and reply.text:
            function = {"name": asked.request.answer.name, "arguments": reply.text}
            call = {"id": f"call_{number}", "type": "function", "function": function}
            message |= {"content": None, "tool_calls": [call]}
            finish = "tool_calls" if reply.finish is Finish.STOP else finish
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 0,
            "model": asked.model,
            "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
            "usage": self._usage(reply.usage),
        }

    def _usage(self, usage: Usage) -> dict[str, Any]:
        total = usage.prompt + usage.completion
        return {"prompt_tokens": usage.prompt, "completion_tokens": usage.completion, "total_tokens": total}

    def error(self, kind: str, text: str) -> dict[str, Any]:
        """Write an error."""
        return {"error": {"message": text, "type": kind, "param": None, "code": kind}}


class AnthropicFormat(Format):
    """Anthropic's messages."""

    def _messages(self, body: Mapping[str, Any]) -> tuple[ChatMessage, ...]:
        system = (_message("system", body["system"]),) if body.get("system") else ()
        return (*system, *super()._messages(body))

    def _wanted(self, body: Mapping[str, Any], tool: Mapping[str, Any] | None) -> AnswerFormat | None:
        config = part(body, "output_config") if body.get("output_config") else {}
        wanted = config.get("format") or body.get("output_format")
        if isinstance(wanted, Mapping) and wanted.get("type") == "json_schema":
            return _form("answer", wanted, "schema")
        return None if tool is None else _form(tool.get("name"), tool, "input_schema")

    def _max_tokens(self, body: Mapping[str, Any]) -> int:
        most = integer(body, "max_tokens")
        if most is None:
            raise BadBody("max_tokens: Field required")
        return most

    def write(self, reply: Reply, asked: WireRequest, number: int) -> dict[str, Any]:
        """Write a reply to the request with a number. Tool input must be JSON here, so other text is sent as text."""
        finish = {Finish.STOP: "end_turn", Finish.LENGTH: "max_tokens", Finish.REFUSAL: "refusal"}[reply.finish]
        content: dict[str, Any] = {"type": "text", "text": reply.text}
        if asked.tool and asked.request.answer is not None and reply.finish is Finish.STOP:
            try:
                given = json.loads(reply.text)
            except ValueError:
                given = None
            if isinstance(given, dict):
                name = asked.request.answer.name
                content = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}
                finish = "tool_use"
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": asked.model,
            "content": [content],
            "stop_reason": finish,
            "stop_sequence": None,
            "usage": self._usage(reply.usage),
        }

    def _usage(self, usage: Usage) -> dict[str, Any]:
        return {"input_tokens": usage.prompt, "output_tokens": usage.completion}

    def error(self, kind: str, text: str) -> dict[str, Any]:
        """Write an error."""
        return {"type": "error", "error": {"type": kind, "message": text}}


def part(holder: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return the object under a key.

    Raises:
        BadBody: there is none.
    """
    value = holder.get(key)
    if not isinstance(value, Mapping):
        raise BadBody(f"{key}: an object is needed")
    return value


def integer(body: Mapping[str, Any], key: str) -> int | None:
    """Return the whole number under a key; None if there is none.

    Raises:
        BadBody: it is something else, or negative.
    """
    value = body.get(key)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BadBody(f"{key}: a whole number of at least 0 is needed")
    return value


def _form(name: Any, holder: Mapping[str, Any], key: str) -> AnswerFormat:
    if not isinstance(name, str):
        raise BadBody("name: the schema needs a name")
    schema = part(holder, key)
    depth, level = 0, list[Any]([schema])
    while level:
        depth += 1
        inner = [value for whole in level for value in (whole.values() if isinstance(whole, Mapping) else whole)]
        level = [value for value in inner if isinstance(value, Mapping | list)]
    if depth > DEEPEST_SCHEMA:
        raise BadBody(f"{key}: nested more than {DEEPEST_SCHEMA} levels deep")
    return AnswerFormat(name, schema)


def _message(role: Any, content: Any) -> ChatMessage:
    if role == "developer":
        role = "system"
    if role not in list(ChatRole):
        raise BadBody(f"role: {role!r} is not known to this server")
    text, pictures = read_content(content)
    return ChatMessage(ChatRole(role), text, pictures=pictures)


def read_content(content: Any) -> tuple[str, tuple[Picture, ...]]:
    """Return the text and the pictures of a message, in either format.

    Raises:
        BadBody: the content has another type, or a picture is not a complete PNG.
    """
    if isinstance(content, str):
        return content, ()
    if not isinstance(content, list) or not all(isinstance(piece, Mapping) for piece in content):
        raise BadBody("content: a text, or a list of parts is needed")
    texts: list[str] = []
    pictures: list[Picture] = []
    for piece in content:
        match piece:
            case {"type": "text"}:
                texts.append(str(piece.get("text", "")))
            case {"type": "image_url", "image_url": {"url": str(url)}} if url.startswith(_DATA):
                pictures.append(_picture(url.removeprefix(_DATA)))
            case {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": str(data)}}:
                pictures.append(_picture(data))
            case _:
                raise BadBody("content: this server takes only text, and PNG pictures in base64")
    return "".join(texts), tuple(pictures)


def _picture(data: str) -> Picture:
    try:
        return read_png(b64decode(data, validate=True))
    except ValueError as error:
        raise BadBody(f"content: a picture cannot be read: {error}") from None

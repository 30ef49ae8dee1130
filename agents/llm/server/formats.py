"""The two formats of the wire: requests read into ours, replies written as theirs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Effort, Finish, Reply, Request, Sampling
from quorum.agents.llm.server.contents import read_content
from quorum.agents.llm.server.thinking import read_effort

DEFAULT_MAX_TOKENS = 4096
DEEPEST_SCHEMA = 100
"""Objects and lists within one another in a schema: far more than a form of ours has, far less than Python's stack."""


class BadBody(ValueError):
    """A body that the format does not allow; the text says why."""


@dataclass(frozen=True, slots=True)
class WireRequest:
    """What the body of a request asks.

    Attributes:
        model: name of the model.
        request: the request, as ours.
        tool: whether the answer is wanted as the call of a tool.
        tier: the tier of service that answers, as the format names it.
    """

    model: str
    request: Request
    tool: bool
    tier: str = ""


class Format(Protocol):
    """One format of the wire."""

    provider: ClassVar[str]
    """Whose format it is."""

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

    def overflow(self, prompt: int, answer: int, context: int) -> dict[str, Any]:
        """Write the error that a prompt, or it and its longest answer, exceed the context, all of them in tokens."""


class OpenAIFormat:
    """OpenAI's chat completions."""

    provider: ClassVar[str] = "openai"

    def read(self, body: Mapping[str, Any]) -> WireRequest:
        """Read the body of a request."""
        _refuse_streams(body)
        messages = tuple(_message(_role(message.get("role")), message.get("content")) for message in _messages(body))
        wanted, tool = body.get("response_format"), _first_tool(body)
        answer: AnswerFormat | None = None
        if isinstance(wanted, Mapping) and wanted.get("type") == "json_schema":
            form = _object(wanted, "json_schema")
            answer = _form(form.get("name", "answer"), form, "schema")
        elif tool is not None:
            function = _object(tool, "function")
            answer = _form(function.get("name"), function, "parameters")
        most = _integer(body, "max_completion_tokens") or _integer(body, "max_tokens") or DEFAULT_MAX_TOKENS
        effort, budget = _openai_thinking(body)
        sampling = Sampling(
            _temperature(body), most, seed=_integer(body, "seed"), effort=effort, thinking_tokens=budget
        )
        tier = _tier(body, {None: "default", "auto": "default", "fast": "priority"}, ("default", "flex", "priority"))
        return WireRequest(_model(body), Request(messages, answer, sampling), tool is not None, tier)

    def write(self, reply: Reply, asked: WireRequest, number: int) -> dict[str, Any]:
        """Write a reply."""
        message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": None}
        finish = {Finish.STOP: "stop", Finish.LENGTH: "length", Finish.REFUSAL: "content_filter"}[reply.finish]
        if reply.finish is Finish.REFUSAL:
            message |= {"content": None, "refusal": reply.text}
        elif asked.tool and asked.request.answer is not None and reply.text:
            function = {"name": asked.request.answer.name, "arguments": reply.text}
            message |= {
                "content": None,
                "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}],
            }
            finish = "tool_calls" if reply.finish is Finish.STOP else finish
        usage = reply.usage
        details = {}
        if usage.reasoning:
            message["reasoning_content"] = reply.thinking
            details["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning}
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": 0,
            "model": asked.model,
            "service_tier": asked.tier,
            "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
            "usage": {
                "prompt_tokens": usage.prompt,
                "completion_tokens": usage.completion,
                "total_tokens": usage.prompt + usage.completion,
                "prompt_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": usage.cache_written},
                **details,
            },
        }

    def without_answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Take the answer out of a response."""
        return {**body, "choices": []}

    def error(self, kind: str, text: str) -> dict[str, Any]:
        """Write an error."""
        return {"error": {"message": text, "type": kind, "param": None, "code": kind}}

    def overflow(self, prompt: int, answer: int, context: int) -> dict[str, Any]:
        """Write the error that the context is exceeded, as OpenAI and vLLM do."""
        text = f"This model's maximum context length is {context} tokens. "
        if prompt < context:
            parts = f"{prompt} in the messages, {answer} in the completion"
            text += f"However, you requested {prompt + answer} tokens ({parts})."
        else:
            text += f"However, your messages resulted in {prompt} tokens."
        return self.error("context_length_exceeded", text)


class AnthropicFormat:
    """Anthropic's messages."""

    provider: ClassVar[str] = "anthropic"

    def read(self, body: Mapping[str, Any]) -> WireRequest:
        """Read the body of a request."""
        _refuse_streams(body)
        most = _integer(body, "max_tokens")
        if most is None:
            raise BadBody("max_tokens: Field required")
        messages = [_message(_role(message.get("role")), message.get("content")) for message in _messages(body)]
        if body.get("system"):
            messages.insert(0, _message(ChatRole.SYSTEM, body["system"]))
        config = _object(body, "output_config") if body.get("output_config") else {}
        wanted, tool = config.get("format") or body.get("output_format"), _first_tool(body)
        answer: AnswerFormat | None = None
        if isinstance(wanted, Mapping) and wanted.get("type") == "json_schema":
            answer = _form("answer", wanted, "schema")
        elif tool is not None:
            answer = _form(tool.get("name"), tool, "input_schema")
        effort, budget = _anthropic_thinking(body, config)
        sampling = Sampling(_temperature(body), most, effort=effort, thinking_tokens=budget)
        tier = _tier(body, {None: "standard", "auto": "standard", "standard_only": "standard"})
        return WireRequest(_model(body), Request(tuple(messages), answer, sampling), tool is not None, tier)

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
        details = {}
        if usage.reasoning:
            thoughts = {"type": "thinking", "thinking": reply.thinking, "signature": "simulated"}
            content = [thoughts, *(content if reply.text else ())]
            details["output_tokens_details"] = {"thinking_tokens": usage.reasoning}
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
                **details,
                "service_tier": asked.tier,
            },
        }

    def without_answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Take the answer out of a response."""
        return {**body, "content": None}

    def error(self, kind: str, text: str) -> dict[str, Any]:
        """Write an error."""
        return {"type": "error", "error": {"type": kind, "message": text}}

    def overflow(self, prompt: int, answer: int, context: int) -> dict[str, Any]:
        """Write the error that the context is exceeded, as Anthropic does."""
        if prompt < context:
            text = f"input length and `max_tokens` exceed context limit: {prompt} + {answer} > {context}"
        else:
            text = f"prompt is too long: {prompt} tokens > {context} maximum"
        return self.error("invalid_request_error", text)


def _refuse_streams(body: Mapping[str, Any]) -> None:
    if body.get("stream"):
        raise BadBody("stream: this server does not stream")
    if body.get("n", 1) != 1:
        raise BadBody("n: this server gives one answer")


def _openai_thinking(body: Mapping[str, Any]) -> tuple[Effort | None, int | None]:
    """Return the effort and the budget of a body, in whatever dialect of OpenAI's format it names them."""
    nested, template = (body.get(name) or {} for name in ("reasoning", "chat_template_kwargs"))
    switch = body.get("thinking") or {}
    for name, part in (("reasoning", nested), ("chat_template_kwargs", template), ("thinking", switch)):
        if not isinstance(part, Mapping):
            raise BadBody(f"{name}: an object is needed")
    told = (body.get("reasoning_effort"), nested.get("effort"), template.get("reasoning_effort"))
    effort = next((level for value in told if (level := read_effort(value)) is not None), None)
    if template.get("enable_thinking") is False or switch.get("type") == "disabled":
        effort = Effort.NONE
    budgets = (_integer(body, "thinking_token_budget"), _integer(body, "reasoning_budget_tokens"))
    return effort, next((found for found in (*budgets, _integer(nested, "max_tokens")) if found is not None), None)


def _anthropic_thinking(body: Mapping[str, Any], config: Mapping[str, Any]) -> tuple[Effort | None, int | None]:
    """Return the effort and the budget of a body in Anthropic's format."""
    switch = _object(body, "thinking") if body.get("thinking") else {}
    off = switch.get("type") in ("disabled", "between_tools")
    return Effort.NONE if off else read_effort(config.get("effort")), _integer(switch, "budget_tokens")


def _messages(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(m, Mapping) for m in messages):
        raise BadBody("messages: at least one message is needed")
    return messages


def _object(holder: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = holder.get(key)
    if not isinstance(value, Mapping):
        raise BadBody(f"{key}: an object is needed")
    return value


def _first_tool(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    tools = body.get("tools")
    if not tools:
        return None
    if not isinstance(tools, list) or not isinstance(tools[0], Mapping):
        raise BadBody("tools: a list of tools is needed")
    return tools[0]


def _form(name: Any, holder: Mapping[str, Any], key: str) -> AnswerFormat:
    if not isinstance(name, str):
        raise BadBody("name: a name of the form is needed")
    schema = _object(holder, key)
    if _depth(schema) > DEEPEST_SCHEMA:
        raise BadBody(f"{key}: it is nested more than {DEEPEST_SCHEMA} deep")
    return AnswerFormat(name, schema)


def _depth(value: Any) -> int:
    """Return how many objects and lists stand within one another, at most."""
    depth, level = 0, [value]
    while level:
        depth += 1
        inner = [part for whole in level for part in (whole.values() if isinstance(whole, Mapping) else whole)]
        level = [part for part in inner if isinstance(part, Mapping | list)]
    return depth


def _integer(body: Mapping[str, Any], key: str) -> int | None:
    value = body.get(key)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BadBody(f"{key}: a whole number of at least 0 is needed")
    return value


def _temperature(body: Mapping[str, Any]) -> float | None:
    value = body.get("temperature")
    if value is not None and (not isinstance(value, int | float) or isinstance(value, bool)):
        raise BadBody("temperature: a number is needed")
    return value


def _tier(body: Mapping[str, Any], names: Mapping[Any, str], others: tuple[str, ...] = ()) -> str:
    """Return the tier that answers a request: another name of one, or one of those that stand for themselves."""
    asked = body.get("service_tier")
    if asked is not None and not isinstance(asked, str):
        raise BadBody("service_tier: a text is needed")
    if asked not in names and asked not in others:
        raise BadBody(f"service_tier: {asked!r} is not known here")
    return names.get(asked, asked or "")


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


def _message(role: ChatRole, content: Any) -> ChatMessage:
    """Return a message with the text and the pictures of its content."""
    try:
        text, pictures = read_content(content)
    except ValueError as error:
        raise BadBody(f"content: {error}") from None
    return ChatMessage(role, text, pictures=pictures)

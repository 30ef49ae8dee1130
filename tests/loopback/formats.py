"""The formats of the wire with all that tests need beyond the product's: thinking, tiers, prompt caches, embeddings."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Any

import orjson

from quorum.agents.llm.embeddings import EMBEDDINGS, texts_to_embed
from quorum.agents.llm.protocol import ChatMessage, Reply, Request, Sampling, Usage
from quorum.agents.llm.protocol import ThinkingEffort as Effort
from quorum.more_providers.serving import formats
from quorum.more_providers.serving.formats import BadBody, WireRequest, integer, part

MOST_TEXTS = 2048
"""Texts of one request for embeddings, as OpenAI has it."""


class OpenAIFormat(formats.OpenAIFormat):
    """OpenAI's chat completions, of models that think, with tiers of service."""

    provider = "openai"

    def _sampling(self, body: Mapping[str, Any]) -> Sampling:
        effort, budget = _openai_thinking(body)
        return replace(super()._sampling(body), effort=effort, thinking_tokens=budget)

    def write(self, reply: Reply, asked: WireRequest, number: int) -> dict[str, Any]:
        """Write a reply."""
        body = super().write(reply, asked, number)
        if reply.usage.reasoning:
            body["choices"][0]["message"]["reasoning_content"] = reply.thinking
        return {**body, "system_fingerprint": reply.fingerprint} if reply.fingerprint else body

    def _usage(self, usage: Usage) -> dict[str, Any]:
        cache = {"cached_tokens": usage.cached, "cache_write_tokens": usage.cache_written}
        thoughts = {"completion_tokens_details": {"reasoning_tokens": usage.reasoning}} if usage.reasoning else {}
        return {**super()._usage(usage), "prompt_tokens_details": cache, **thoughts}

    def tier(self, body: Mapping[str, Any]) -> str:
        """Return the tier of service that answers a request."""
        names = {None: "default", "auto": "default", "fast": "priority"}
        return _tier(body, names, ("default", "flex", "priority"))

    def with_tier(self, response: dict[str, Any], tier: str) -> dict[str, Any]:
        """Name the tier of service in a response."""
        return {**response, "service_tier": tier}

    def without_answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Take the answer out of a response."""
        return {**body, "choices": []}

    def overflow(self, prompt: int, answer: int, context: int) -> dict[str, Any]:
        """Write the error that the context is exceeded, as OpenAI and vLLM do; all numbers are tokens."""
        text = f"This model's maximum context length is {context} tokens. "
        if prompt < context:
            parts = f"{prompt} in the messages, {answer} in the completion"
            text += f"However, you requested {prompt + answer} tokens ({parts})."
        else:
            text += f"However, your messages resulted in {prompt} tokens."
        return self.error("context_length_exceeded", text)


class AnthropicFormat(formats.AnthropicFormat):
    """Anthropic's messages, of models that think, with tiers of service."""

    provider = "anthropic"

    def _messages(self, body: Mapping[str, Any]) -> tuple[ChatMessage, ...]:
        """Read messages; thoughts of earlier answers are taken back as they came alone."""
        given = body.get("messages")
        parted = [_parted(message) for message in given] if isinstance(given, list) else []
        found = super()._messages({**body, "messages": [rest for _, rest in parted]} if parted else body)
        carried = [(), *(thoughts for thoughts, _ in parted)][-len(found) :]
        return tuple(replace(message, carried=thoughts) for message, thoughts in zip(found, carried, strict=True))

    def _sampling(self, body: Mapping[str, Any]) -> Sampling:
        switch = part(body, "thinking") if body.get("thinking") else {}
        off = switch.get("type") in ("disabled", "between_tools")
        config = part(body, "output_config") if body.get("output_config") else {}
        effort = Effort.NONE if off else read_effort(config.get("effort"))
        return replace(super()._sampling(body), effort=effort, thinking_tokens=integer(switch, "budget_tokens"))

    def write(self, reply: Reply, asked: WireRequest, number: int) -> dict[str, Any]:
        """Write a reply."""
        body = super().write(reply, asked, number)
        if reply.usage.reasoning:
            signature = f"{number}:{_signed(reply.thinking)}"
            thoughts = {"type": "thinking", "thinking": reply.thinking, "signature": signature}
            body["content"] = [thoughts, *(body["content"] if reply.text else ())]
        return body

    def _usage(self, usage: Usage) -> dict[str, Any]:
        thoughts = {"output_tokens_details": {"thinking_tokens": usage.reasoning}} if usage.reasoning else {}
        return {
            **super()._usage(usage),
            "input_tokens": usage.prompt - usage.cached - usage.cache_written,
            "cache_read_input_tokens": usage.cached,
            "cache_creation_input_tokens": usage.cache_written,
            **thoughts,
        }

    def tier(self, body: Mapping[str, Any]) -> str:
        """Return the tier of service that answers a request."""
        return _tier(body, {None: "standard", "auto": "standard", "standard_only": "standard"})

    def with_tier(self, response: dict[str, Any], tier: str) -> dict[str, Any]:
        """Name the tier of service in a response."""
        return {**response, "usage": {**response["usage"], "service_tier": tier}}

    def without_answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Take the answer out of a response."""
        return {**body, "content": None}

    def overflow(self, prompt: int, answer: int, context: int) -> dict[str, Any]:
        """Write the error that the context is exceeded, as Anthropic does; all numbers are tokens."""
        if prompt < context:
            text = f"input length and `max_tokens` exceed context limit: {prompt} + {answer} > {context}"
        else:
            text = f"prompt is too long: {prompt} tokens > {context} maximum"
        return self.error("invalid_request_error", text)


class OpenAIEmbeddings(OpenAIFormat):
    """OpenAI's embeddings: texts in, numbers out."""

    def read(self, body: Mapping[str, Any]) -> WireRequest:
        """Read the body of a request."""
        model, given = body.get("model"), body.get("input")
        if not isinstance(model, str):
            raise BadBody("model: a name is needed")
        texts = [given] if isinstance(given, str) else given
        if not isinstance(texts, list) or not 0 < len(texts) <= MOST_TEXTS:
            raise BadBody(f"input: a text is needed, or a list of 1 to {MOST_TEXTS} of them")
        if not all(isinstance(text, str) and text for text in texts):
            raise BadBody("input: each must be a text that is not empty")
        if body.get("encoding_format", "float") != "float":
            raise BadBody("encoding_format: this server writes float")
        return WireRequest(model, Request(texts_to_embed(texts), EMBEDDINGS, Sampling(None, 1)), tool=False)

    def with_tier(self, response: dict[str, Any], tier: str) -> dict[str, Any]:
        """Return the response: it names no tier."""
        return response

    def write(self, reply: Reply, asked: WireRequest, number: int) -> dict[str, Any]:
        """Write a reply."""
        try:
            vectors = orjson.loads(reply.text)["embeddings"]
        except (ValueError, LookupError, TypeError):
            vectors = []  # of a fault
        return {
            "object": "list",
            "data": [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)],
            "model": asked.model,
            "usage": {"prompt_tokens": reply.usage.prompt, "total_tokens": reply.usage.prompt},
        }

    def without_answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Take the answer out of a response."""
        return {**body, "data": []}


def _parted(message: Any) -> tuple[tuple[Mapping[str, Any], ...], Any]:
    """Return the thoughts that a message begins with, and the message without them."""
    content = message.get("content") if isinstance(message, Mapping) else None
    blocks = content if isinstance(content, list) else []
    found = tuple(takewhile(lambda block: isinstance(block, Mapping) and block.get("type") == "thinking", blocks))
    if any(block["signature"].partition(":")[2] != _signed(block["thinking"]) for block in found):
        raise BadBody("`thinking` blocks cannot be modified: they must remain as they were in the response")
    return found, {**message, "content": blocks[len(found) :]} if found else message


def _signed(thinking: str) -> str:
    return hashlib.sha256(thinking.encode()).hexdigest()[:16]


def _openai_thinking(body: Mapping[str, Any]) -> tuple[Effort | None, int | None]:
    """Return the effort and the budget of a body, in whatever dialect of OpenAI's format it names them."""
    nested, template = (body.get(name) or {} for name in ("reasoning", "chat_template_kwargs"))
    switch = body.get("thinking") or {}
    for name, given in (("reasoning", nested), ("chat_template_kwargs", template), ("thinking", switch)):
        if not isinstance(given, Mapping):
            raise BadBody(f"{name}: an object is needed")
    named = (body.get("reasoning_effort"), nested.get("effort"), template.get("reasoning_effort"))
    effort = next((level for value in named if (level := read_effort(value)) is not None), None)
    if template.get("enable_thinking") is False or switch.get("type") == "disabled":
        effort = Effort.NONE
    budgets = (
        integer(body, "thinking_token_budget"),
        integer(body, "reasoning_budget_tokens"),
        integer(template, "thinking_budget"),
    )
    return effort, next((found for found in (*budgets, integer(nested, "max_tokens")) if found is not None), None)


def _tier(body: Mapping[str, Any], names: Mapping[Any, str], others: tuple[str, ...] = ()) -> str:
    """Return the tier that answers a request: another name of one, or one of those that stand for themselves."""
    asked = body.get("service_tier")
    if asked is not None and not isinstance(asked, str):
        raise BadBody("service_tier: a text is needed")
    if asked not in names and asked not in others:
        raise BadBody(f"service_tier: {asked!r} is not known here")
    return names.get(asked, asked or "")


def read_effort(value: Any) -> Effort | None:
    """Return the level that a body names; None where it names none that exists."""
    return Effort(value) if isinstance(value, str) and value in list(Effort) else None

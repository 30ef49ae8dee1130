"""Anthropic, through the official SDK."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any, ClassVar

from quorum.agents.llm.errors import BadRequest, BrokenResponse
from quorum.agents.llm.prices import read_tier
from quorum.agents.llm.protocol import ChatMessage, ChatRole, Finish, Reply, Request, Structured, Usage
from quorum.agents.llm.providers.base import Provider
from quorum.agents.llm.providers.content import (
    Content,
    PromptCaching,
    anthropic_block,
    anthropic_image,
    contents_of,
    with_pictures,
)
from quorum.agents.llm.providers.refusals import Offer
from quorum.agents.llm.providers.thinking import message_thinking
from quorum.agents.llm.providers.usage import added, count, counted_usage, part_of
from quorum.agents.llm.providers.wording import carried_item, printable_unicode, schema_message, written_call

_FINISHES = {
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "refusal": Finish.REFUSAL,
}


_THOUGHTS = frozenset({"thinking", "redacted_thinking"})
"""Types of blocks that are sent back unchanged."""


class AnthropicModel(Provider):
    """A model behind Anthropic's messages format. Parameters it no longer accepts (temperature, top_p) are not sent.

    Version 2026-10-21 of the format refuses both at any value, and its SDK has no parameter for them (anthropic 2.11,
    `types/message_create_params.py`). It has never accepted a seed. Addresses end before `/v1`.
    """

    name: ClassVar[str] = "anthropic"
    _own_address: ClassVar[str | None] = "https://api.anthropic.com"
    _client_name: ClassVar[str] = "AsyncAnthropic"
    usual_key: ClassVar[str | None] = "ANTHROPIC_API_KEY"
    _never_taken: ClassVar[tuple[str, ...]] = ("temperature", "top_p", "seed")

    def _import(self) -> Any:
        import anthropic  # noqa: PLC0415 (costs 0.9 s: only where it is used)

        return anthropic

    def _connect(self, base_url: str | None) -> str:
        address = super()._connect(base_url)
        self._known = signature(self._client.messages.create).parameters.keys()
        return address

    async def _send(self, body: Mapping[str, Any], deadline: float) -> Any:
        known = {key: value for key, value in body.items() if key in self._known}
        others = {key: value for key, value in body.items() if key not in self._known}
        return await self._client.messages.create(**known, extra_body=others, timeout=self._timeout(deadline))

    def _read(self, response: Any, request: Request) -> Reply:
        blocks, reason, name = response.content, response.stop_reason, response.model
        if not isinstance(reason, str):
            raise BrokenResponse("a successful response with an incomplete message")
        finish = _FINISHES.get(reason, Finish.STOP)
        thinking = "".join(block.thinking for block in blocks if block.type == "thinking")
        texts = [block.text for block in blocks if block.type == "text"]
        tools = [block.input for block in blocks if block.type == "tool_use"]
        text = written_call(tools[0], finish) if tools else "".join(texts)
        usage = getattr(response, "usage", None)
        return Reply(
            text=printable_unicode(text),
            finish=finish,
            usage=self._usage(usage, request, text, thinking),
            usd=None,
            seconds=0.0,
            model=printable_unicode(name) if isinstance(name, str) and name else self.model,
            thinking=printable_unicode(thinking),
            tier=read_tier(part_of(usage, "service_tier")),
            carried=tuple(carried_item(block) for block in blocks if block.type in _THOUGHTS),
        )

    def _usage(self, usage: Any, request: Request, text: str, thinking: str) -> Usage:
        return message_usage(usage, request, text, thinking)

    def _usual_prompt_caching(self) -> PromptCaching:
        return PromptCaching.BREAKPOINTS

    def _body(self, request: Request, offer: Offer) -> dict[str, Any]:
        system = [message.content for message in request.messages if message.role is ChatRole.SYSTEM]
        messages = [message for message in request.messages if message.role is not ChatRole.SYSTEM]
        marked = offer.prompt_cache is PromptCaching.BREAKPOINTS
        contents = contents_of(messages, anthropic_block, marked=marked)
        arguments: dict[str, Any] = {
            "model": self.model,
            "max_tokens": offer.longest,
            "messages": [
                {
                    "role": message.role.value,
                    "content": _with_thoughts(
                        message, with_pictures(content, message.pictures, anthropic_image, anthropic_block)
                    ),
                }
                for message, content in zip(messages, contents, strict=True)
            ],
            **message_thinking(offer.sampling, self._family, show=self._keep_thinking),
        }
        answer = request.answer
        if answer is not None and offer.structured is Structured.SCHEMA:
            # The SDK's own rewriting: it moves constraints that the API rejects to descriptions. We check them all.
            try:
                schema = self._sdk.transform_schema(dict(answer.schema))
            except ValueError as error:
                raise BadRequest(f"invalid schema for output_config: {error}") from None
            format_ = {"format": {"type": "json_schema", "schema": schema}}
            arguments["output_config"] = {**arguments.get("output_config", {}), **format_}
        elif answer is not None and offer.structured is Structured.TOOLS:
            arguments["tools"] = [
                {"name": answer.name, "description": "Give the answer.", "input_schema": answer.schema}
            ]
            forced = {"type": "tool", "name": answer.name} if offer.forced else {"type": "auto"}
            arguments["tool_choice"] = {**forced, "disable_parallel_tool_use": True}
        elif answer is not None and not answer.in_words:
            system.append(schema_message(answer).content)
        if system:
            joined = "\n\n".join(system)
            arguments["system"] = [anthropic_block(joined, True)] if marked else joined
        if offer.sampling.stop is not None:
            arguments["stop_sequences"] = list(offer.sampling.stop)
        return arguments


def _with_thoughts(message: ChatMessage, content: Content) -> Content:
    """Return the content of an answer, preceded by its thoughts exactly as they came.

    An answer that was a tool call goes back as text, because the tool results that the format requires do not exist.
    """
    if not message.carried:
        return content
    text = [anthropic_block(content, False)] if isinstance(content, str) else content
    return [*map(dict, message.carried), *text]


def message_usage(usage: Any, request: Request, text: str, thinking: str) -> Usage:
    """Read the usage of a message from JSON or an SDK object; the parts of its prompt are counted separately."""
    names = ("cache_read_input_tokens", "cache_creation_input_tokens")
    cached, written = (count(part_of(usage, name)) or 0 for name in names)
    return counted_usage(
        added(count(part_of(usage, "input_tokens")), cached, written),
        part_of(usage, "output_tokens"),
        cached,
        written,
        request=request,
        text=text,
        reasoning=part_of(usage, "output_tokens_details", "thinking_tokens"),
        thinking=thinking,
    )

"""OpenAI's Responses API, through the official SDK; also serves models without chat completions (pro, codex).

Sources, read on 2026-11-26: the types of openai 3.52 (`types/responses`); developers.openai.com/api/docs/guides
(reasoning, conversation state).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from quorum.agents.llm.errors import BrokenResponse
from quorum.agents.llm.prices import read_tier
from quorum.agents.llm.protocol import ChatMessage, ChatRole, Finish, Reply, Request, Structured, Usage
from quorum.agents.llm.providers.chat import is_strict
from quorum.agents.llm.providers.content import (
    Content,
    PromptCaching,
    contents_of,
    key_of,
    responses_image,
    responses_part,
    with_pictures,
)
from quorum.agents.llm.providers.openai import OpenAIModel
from quorum.agents.llm.providers.refusals import Offer
from quorum.agents.llm.providers.thinking import thinks
from quorum.agents.llm.providers.usage import counted_usage, part_of
from quorum.agents.llm.providers.wording import carried_item, printable_unicode, with_schema_in_words

PATH = "/responses"
LEAST_TOKENS = 16
"""Minimum `max_output_tokens` that OpenAI accepts."""
_INCOMPLETE = {"max_output_tokens": Finish.LENGTH, "content_filter": Finish.REFUSAL}
_FAILURES = {"server_error": 500, "rate_limit_exceeded": 429}
"""HTTP status equivalent to the errors of failed responses; all other errors concern the request."""
_CARRIED = ("type", "id", "summary", "encrypted_content")


class ResponsesModel(OpenAIModel):
    """A model behind OpenAI's Responses API. Nothing is stored on the server. Addresses end in `/v1`.

    Reasoning items are carried encrypted. The API has no parameter for a seed, for stop sequences, or for a budget of
    thinking tokens.
    """

    name: ClassVar[str] = "openai_responses"
    _never_taken: ClassVar[tuple[str, ...]] = ("seed", "stop", "thinking_tokens")
    embeds: ClassVar[bool] = False

    def _table(self) -> str:
        return self.name

    def _body(self, request: Request, offer: Offer) -> dict[str, Any]:
        messages, answer = list(request.messages), request.answer
        arguments: dict[str, Any] = {
            "model": self.model,
            "store": False,
            "max_output_tokens": max(offer.longest, LEAST_TOKENS),
        }
        if answer is not None and offer.structured is Structured.SCHEMA:
            form = {"name": answer.name, "schema": answer.schema, "strict": is_strict(answer.schema)}
            arguments["text"] = {"format": {"type": "json_schema", **form}}
        elif answer is not None and offer.structured is Structured.TOOLS:
            form = {"name": answer.name, "parameters": answer.schema, "strict": is_strict(answer.schema)}
            arguments["tools"] = [{"type": "function", "description": "Give the answer.", **form}]
            arguments["tool_choice"] = {"type": "function", "name": answer.name} if offer.forced else "auto"
        else:
            messages = with_schema_in_words(messages, answer)
        for name in ("temperature", "top_p"):
            if (value := getattr(offer.sampling, name)) is not None:
                arguments[name] = value
        if offer.prompt_cache is not PromptCaching.NONE:
            system = (message.content for message in messages if message.role is ChatRole.SYSTEM)
            arguments["prompt_cache_key"] = key_of(system, answer)
        marked = offer.prompt_cache is PromptCaching.BREAKPOINTS
        if marked:
            arguments["prompt_cache_options"] = {"mode": "explicit"}
        contents = contents_of(messages, responses_part, marked=marked)
        items = [_items(message, content) for message, content in zip(messages, contents, strict=True)]
        return {**arguments, **self._reasoning(request, offer), "input": [item for some in items for item in some]}

    def _reasoning(self, request: Request, offer: Offer) -> dict[str, Any]:
        """Return the reasoning settings: the effort, and the form in which thoughts are returned."""
        reasoning: dict[str, Any] = {} if offer.sampling.effort is None else {"effort": offer.sampling.effort}
        may_think = self._family is None or thinks(offer.sampling, self._family)
        if may_think and self._keep_thinking and offer.summary:
            reasoning["summary"] = "auto"
        said: dict[str, Any] = {"reasoning": reasoning} if reasoning else {}
        return {**said, "include": ["reasoning.encrypted_content"]} if may_think and request.carry else said

    async def _send(self, body: Mapping[str, Any], deadline: float) -> Any:
        # `post` instead of `responses.create`, which traverses every schema in Python before sending.
        options = {"timeout": self._timeout(deadline)}
        return await self._client.post(PATH, cast_to=self._sdk.types.responses.Response, body=body, options=options)

    def _read(self, response: Any, request: Request) -> Reply:
        if (error := response.error) is not None:
            status = _FAILURES.get(error.code, 400)
            raise self._translate_status(status, {"message": error.message, "code": error.code}, "", None)
        status, output = response.status, response.output
        if status not in ("completed", "incomplete") or (status == "completed" and not output):
            raise BrokenResponse(f"a success without an answer (status {status})")
        reasoning = [item for item in output if item.type == "reasoning"]
        parts = [part for item in output if item.type == "message" for part in item.content]
        calls = [item.arguments for item in output if item.type == "function_call"]
        refusal = "".join(part.refusal for part in parts if part.type == "refusal")
        text = calls[0] if calls else refusal or "".join(part.text for part in parts if part.type == "output_text")
        if not isinstance(text, str):
            raise BrokenResponse("a success whose answer is not text")
        thoughts = [part.text for item in reasoning for part in (*(item.summary or ()), *(item.content or ()))]
        thinking = "\n\n".join(thoughts)
        name = response.model
        carried = tuple(
            {name: value for name, value in carried_item(item).items() if name in _CARRIED}
            for item in reasoning
            if item.encrypted_content
        )
        return Reply(
            text=printable_unicode(text),
            finish=_finish(response) if calls or not refusal else Finish.REFUSAL,
            usage=self._usage(getattr(response, "usage", None), request, text, thinking),
            usd=None,
            seconds=0.0,
            model=printable_unicode(name) if isinstance(name, str) and name else self.model,
            thinking=printable_unicode(thinking),
            tier=read_tier(getattr(response, "service_tier", None)),
            carried=carried,
        )

    def _usage(self, usage: Any, request: Request, text: str, thinking: str) -> Usage:
        return counted_usage(
            part_of(usage, "input_tokens"),
            part_of(usage, "output_tokens"),
            part_of(usage, "input_tokens_details", "cached_tokens"),
            part_of(usage, "input_tokens_details", "cache_write_tokens"),
            request=request,
            text=text,
            reasoning=part_of(usage, "output_tokens_details", "reasoning_tokens"),
            thinking=thinking,
        )


def _items(message: ChatMessage, content: Content) -> list[dict[str, Any]]:
    """Return the input items of a message; an assistant message follows the reasoning that led to it.

    Only messages of other roles may have parts.
    """
    if message.role is ChatRole.ASSISTANT:
        reasoning = [dict(item) for item in message.carried if item.get("type") == "reasoning"]
        return [*reasoning, {"role": message.role.value, "content": message.content}]
    parts = with_pictures(content, message.pictures, responses_image, responses_part)
    return [{"role": message.role.value, "content": parts}]


def _finish(response: Any) -> Finish:
    if response.status == "completed":
        return Finish.STOP
    return _INCOMPLETE.get(part_of(response, "incomplete_details", "reason"), Finish.LENGTH)

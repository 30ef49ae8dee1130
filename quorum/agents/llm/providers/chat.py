"""OpenAI's chat completion and embedding formats, shared by the official SDK and litellm."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import isfinite
from typing import Any

import orjson

from quorum.agents.llm.embeddings import reply_with
from quorum.agents.llm.errors import BrokenResponse
from quorum.agents.llm.limits import estimate_tokens
from quorum.agents.llm.prices import read_tier
from quorum.agents.llm.protocol import (
    ChatRole,
    Finish,
    Reply,
    Request,
    Structured,
    ThinkingFormat,
    TokenLogprobs,
    Usage,
)
from quorum.agents.llm.providers.content import (
    PromptCaching,
    contents_of,
    key_of,
    openai_image,
    openai_part,
    with_pictures,
)
from quorum.agents.llm.providers.refusals import Offer
from quorum.agents.llm.providers.thinking import chat_thinking
from quorum.agents.llm.providers.thoughts import separate_thoughts
from quorum.agents.llm.providers.usage import added, charged, count, counted_usage, part_of
from quorum.agents.llm.providers.wording import printable_unicode, with_schema_in_words, written_call
from quorum.agents.llm.validation import schemas_in


def read_embeddings(response: Any, request: Request, model: str) -> Reply:
    """Read a response with embeddings.

    Args:
        response: the SDK's response.
        request: the request, to estimate its tokens if the response does not count them.
        model: name of the model, used if the response does not name it.

    Raises:
        BrokenResponse: it does not hold one embedding of numbers for each text.
    """
    found = sorted(response.data, key=lambda one: one.index)
    vectors = [[float(number) for number in one.embedding] for one in found]
    if not all(isfinite(number) for vector in vectors for number in vector):
        raise BrokenResponse("an embedding contains a value that is not a number")
    tokens = count(part_of(response, "usage", "prompt_tokens"))
    if tokens is not None:
        usage = Usage(tokens, 0)
    else:
        usage = Usage(estimate_tokens(*(message.content for message in request.messages)), 0, estimated=True)
    name = response.model if isinstance(getattr(response, "model", None), str) else model
    return reply_with(vectors, request, usage, name)


_NOT_STRICT = frozenset({"oneOf", "allOf", "not", "if", "default", "patternProperties", "uniqueItems"})
_FINISHES = {
    "length": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,  # Z.ai
    **dict.fromkeys(("content_filter", "sensitive", "safety", "refusal", "guardrail_intervened"), Finish.REFUSAL),
}
"""OpenAI's reasons; "sensitive": Z.ai (docs.z.ai); the others: gateways to Anthropic, Google and Bedrock."""
_TEXT_PARTS = frozenset({"text", "output_text"})
_LONGEST_FINGERPRINT = 200


def chat_arguments(request: Request, offer: Offer, dialect: ThinkingFormat = ThinkingFormat.OPENAI) -> dict[str, Any]:
    """Return the arguments of a chat completion, except the model and the output limit.

    Args:
        request: the request.
        offer: what to send of it.
        dialect: dialect of the thinking switch.
    """
    messages = list(request.messages)
    arguments: dict[str, Any] = {}
    answer = request.answer
    if answer is not None and offer.structured is Structured.SCHEMA:
        arguments["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": answer.name, "schema": answer.schema, "strict": is_strict(answer.schema)},
        }
    elif answer is not None and offer.structured is Structured.TOOLS:
        function = {"name": answer.name, "description": "Give the answer.", "parameters": answer.schema}
        arguments["tools"] = [{"type": "function", "function": function}]
        forced = {"type": "function", "function": {"name": answer.name}}
        arguments["tool_choice"] = forced if offer.forced else "auto"
    else:
        messages = with_schema_in_words(messages, answer)
    if offer.sampling.temperature is not None:
        arguments["temperature"] = offer.sampling.temperature
    if offer.sampling.seed is not None:
        arguments["seed"] = offer.sampling.seed
    if offer.prompt_cache is not PromptCaching.NONE:
        system = (message.content for message in messages if message.role is ChatRole.SYSTEM)
        arguments["prompt_cache_key"] = key_of(system, answer)
    if offer.prompt_cache is PromptCaching.BREAKPOINTS:
        arguments["prompt_cache_options"] = {"mode": "explicit"}
    contents = contents_of(messages, openai_part, marked=offer.prompt_cache is PromptCaching.BREAKPOINTS)
    if offer.sampling.top_p is not None:
        arguments["top_p"] = offer.sampling.top_p
    if offer.sampling.stop is not None:
        arguments["stop"] = list(offer.sampling.stop)
    arguments |= chat_thinking(dialect, offer.sampling)
    arguments["messages"] = [
        {"role": message.role.value, "content": with_pictures(content, message.pictures, openai_image, openai_part)}
        for message, content in zip(messages, contents, strict=True)
    ]
    return arguments


def is_strict(schema: Mapping[str, Any]) -> bool:
    """Return whether a schema obeys the rules of OpenAI's strict mode, which rejects all others.

    Every object forbids additional properties and requires all that it has, and no keyword is outside the subset.
    """
    return _is_strict(orjson.dumps(schema))


@lru_cache(maxsize=256)
def _is_strict(schema: bytes) -> bool:
    return all(
        not (_NOT_STRICT & part.keys())
        and (
            part.get("type") != "object"
            or (
                part.get("additionalProperties") is False
                and set(part.get("required", ())) == set(part.get("properties", ()))
            )
        )
        for part in schemas_in(orjson.loads(schema))
    )


def read_chat(response: Any, request: Request, model: str) -> Reply:
    """Read a chat completion, including its cost if the server reports it.

    Args:
        response: the SDK's response.
        request: the request, to estimate its tokens if the response does not count them.
        model: name of the model, used if the response does not name it.

    Raises:
        BrokenResponse: it reports success but holds no answer.
    """
    choices = response.choices
    if not choices:
        raise BrokenResponse("a successful response without choices")
    message, reason = choices[0].message, choices[0].finish_reason
    refusal = _refusal(message)
    calls = getattr(message, "tool_calls", None)
    text = _arguments(calls[0], reason) if calls else refusal or _text_of(message.content)
    thinking = separate_thoughts(message)
    if not isinstance(text, str) or not isinstance(reason, str):
        raise BrokenResponse("a successful response with an incomplete message")
    usage, name = getattr(response, "usage", None), response.model
    return Reply(
        text=printable_unicode(text),
        finish=Finish.REFUSAL if refusal and not calls else _FINISHES.get(reason, Finish.STOP),
        usage=chat_usage(usage, request, text, thinking),
        usd=charged(usage),
        seconds=0.0,
        model=printable_unicode(name) if isinstance(name, str) and name else model,
        thinking=printable_unicode(thinking),
        tier=read_tier(getattr(response, "service_tier", None)),
        fingerprint=_fingerprint(getattr(response, "system_fingerprint", None)),
        logprobs=tuple(map(_logprobs, part_of(choices[0], "logprobs", "content") or ())),
    )


def _logprobs(token: Any) -> TokenLogprobs:
    found = (token, *(part_of(token, "top_logprobs") or ()))
    (text, own), *others = ((printable_unicode(part_of(one, "token")), float(part_of(one, "logprob"))) for one in found)
    return TokenLogprobs(text, own, dict(others))


def _fingerprint(value: Any) -> str:
    return printable_unicode(value)[:_LONGEST_FINGERPRINT] if isinstance(value, str) else ""


def _refusal(message: Any) -> Any:
    """Return the refusal of a message; LiteLLM keeps it among the provider-specific fields."""
    refusal = getattr(message, "refusal", None)
    fields = getattr(message, "provider_specific_fields", None)
    return refusal or (fields.get("refusal") if isinstance(fields, Mapping) else None)


def _text_of(content: Any) -> Any:
    """Return the text of a message, which may come in parts; parts that hold thoughts are excluded."""
    if not isinstance(content, list):
        return content or ""
    parts = [part if isinstance(part, Mapping) else part.model_dump() for part in content]
    return "".join(part["text"] for part in parts if part.get("type", "text") in _TEXT_PARTS)


def _arguments(call: Any, reason: Any) -> Any:
    """Return the arguments of a tool call; some servers send them as JSON instead of a string of JSON."""
    arguments = call.function.arguments
    if not isinstance(arguments, Mapping):
        return arguments
    return written_call(arguments, _FINISHES.get(reason, Finish.STOP))


def chat_usage(usage: Any, request: Request, text: str, thinking: str) -> Usage:
    """Read the usage of a chat completion from JSON or an SDK object."""
    prompt, completion = part_of(usage, "prompt_tokens"), part_of(usage, "completion_tokens")
    reasoning = part_of(usage, "completion_tokens_details", "reasoning_tokens")
    read, written, thoughts = count(prompt), count(completion), count(reasoning)
    if read and thoughts and added(read, written, thoughts) == count(part_of(usage, "total_tokens")):
        completion = added(written, thoughts)  # xAI counts thoughts separately from the answer
    return counted_usage(
        prompt,
        completion,
        part_of(usage, "prompt_tokens_details", "cached_tokens"),
        part_of(usage, "prompt_tokens_details", "cache_write_tokens"),
        reasoning=reasoning,
        request=request,
        text=text,
        thinking=thinking,
    )

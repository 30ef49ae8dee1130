"""OpenAI's chat-completions format, as the official SDK and litellm both speak it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from math import isfinite
from typing import Any

import orjson

from quorum.agents.llm.errors import BrokenResponse
from quorum.agents.llm.protocol import AnswerFormat, ChatRole, Finish, Reply, Request, Usage
from quorum.agents.llm.providers.base import Offer, Structured, printable_unicode, schema_message

_NOT_STRICT = frozenset({"oneOf", "allOf", "not", "if", "default", "patternProperties", "uniqueItems"})
_FINISHES = {"length": Finish.LENGTH, "content_filter": Finish.REFUSAL}


def chat_arguments(request: Request, offer: Offer) -> dict[str, Any]:
    """Return the arguments of a chat completion, but for the model and the longest answer."""
    messages = list(request.messages)
    arguments: dict[str, Any] = {}
    answer = request.answer
    if answer is not None and offer.structured is Structured.SCHEMA:
        arguments["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": answer.name, "schema": answer.schema, "strict": is_strict(answer.schema)},
        }
    elif answer is not None and offer.structured is Structured.TOOLS:
        arguments["tools"] = [_tool(answer)]
        arguments["tool_choice"] = {"type": "function", "function": {"name": answer.name}}
    elif answer is not None:
        place = next((i for i, m in enumerate(messages) if m.role is not ChatRole.SYSTEM), len(messages))
        messages.insert(place, schema_message(answer))
    if offer.temperature is not None:
        arguments["temperature"] = offer.temperature
    if offer.seed is not None:
        arguments["seed"] = offer.seed
    arguments["messages"] = [{"role": message.role.value, "content": message.content} for message in messages]
    return arguments


def _tool(answer: AnswerFormat) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": answer.name, "description": "Give the answer.", "parameters": answer.schema},
    }


def is_strict(schema: Mapping[str, Any]) -> bool:
    """Return whether a schema obeys the rules of OpenAI's strict mode, which refuses any other.

    Every object forbids further properties and requires all it has, and no keyword stands outside of the subset.
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
        for part in _parts(orjson.loads(schema))
    )


def _parts(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Return a schema and all schemas inside of it."""
    yield schema
    for keyword in ("properties", "$defs"):
        for inner in schema.get(keyword, {}).values():
            yield from _parts(inner)
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), Mapping):
            yield from _parts(schema[keyword])
    for keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for inner in schema.get(keyword, ()):
            yield from _parts(inner)


def read_chat(response: Any, model: str) -> Reply:
    """Read a chat completion, with its money where the server says what it has charged.

    Raises:
        BrokenResponse: it says success and holds no answer.
    """
    if isinstance(response, str):
        raise BrokenResponse("a success with text where JSON belongs (HTML of a proxy?)")
    try:
        choices = response.choices
        if not choices:
            raise BrokenResponse("a success without choices")
        message, reason = choices[0].message, choices[0].finish_reason
        refusal = getattr(message, "refusal", None)
        calls = getattr(message, "tool_calls", None)
        text = calls[0].function.arguments if calls else refusal or message.content or ""
        usage, usd = _read_usage(response.usage), charged(response.usage)
        name = response.model
    except (AttributeError, TypeError, KeyError, IndexError) as error:
        raise BrokenResponse(f"a success that is no chat completion ({type(error).__name__})") from None
    if not isinstance(text, str) or reason is None:
        raise BrokenResponse("a success whose message is not whole")
    return Reply(
        text=printable_unicode(text),
        finish=Finish.REFUSAL if refusal and not calls else _FINISHES.get(reason, Finish.STOP),
        usage=usage,
        usd=usd,
        seconds=0.0,
        model=printable_unicode(name) if isinstance(name, str) and name else model,
    )


def _read_usage(usage: Any) -> Usage:
    prompt, completion = usage.prompt_tokens, usage.completion_tokens
    details = getattr(usage, "prompt_tokens_details", None)
    cached = getattr(details, "cached_tokens", None) or 0
    return checked_usage(prompt, completion, cached, getattr(details, "cache_write_tokens", None) or 0)


def charged(usage: Any) -> float | None:
    """Return what a server says that an answer has cost, in US dollars; None where it does not say.

    That is `usage.cost` of OpenRouter (openrouter.ai/docs, Usage Accounting). With a key of one's own (`is_byok`) it is
    the share of OpenRouter, and what the provider behind it charges stands beside it.
    """
    cost = _amount(getattr(usage, "cost", None))
    if cost is None or getattr(usage, "is_byok", None) is not True:
        return cost
    details = getattr(usage, "cost_details", None)
    upstream = _amount(details.get("upstream_inference_cost") if isinstance(details, Mapping) else None)
    return None if upstream is None else cost + upstream


def _amount(value: Any) -> float | None:
    is_amount = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and value >= 0
    return float(value) if is_amount else None


def checked_usage(prompt: Any, completion: Any, cached: Any, cache_written: Any) -> Usage:
    """Take token counts from a response.

    Raises:
        TypeError: they are no counts.
    """
    counts = (prompt, completion, cached, cache_written)
    if not all(isinstance(count, int) and count >= 0 for count in counts):
        raise TypeError("token counts are missing")
    cached = min(cached, prompt)
    return Usage(prompt, completion, cached, cache_written=min(cache_written, prompt - cached))

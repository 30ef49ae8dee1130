"""OpenAI's formats of chat completions and embeddings, as the official SDK and litellm both speak them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import ceil, isfinite
from typing import Any

import orjson

from quorum.agents.llm.embeddings import reply_with
from quorum.agents.llm.errors import BrokenResponse
from quorum.agents.llm.limits import estimate_prompt, estimate_tokens
from quorum.agents.llm.prices import read_tier
from quorum.agents.llm.protocol import ChatRole, Finish, Reply, Request, Structured, ThinkingFormat, Usage
from quorum.agents.llm.providers.base import printable_unicode, with_schema_in_words
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
from quorum.agents.llm.validation import schemas_in

_FIELDS = ("reasoning_content", "reasoning")
"""Fields of a message in OpenAI's format: DeepSeek and llama.cpp have the one, vLLM and OpenRouter the other."""
_MARKED = re.compile(r"\s*<think>(?P<thoughts>.*?)(?:</think>(?P<answer>.*))?", re.DOTALL)


def separate_thoughts(message: Any) -> str:
    """Return the thoughts that a chat completion has in a separate field; empty where it has none."""
    for name in _FIELDS:
        thoughts = getattr(message, name, None)
        if isinstance(thoughts, str) and thoughts:
            return thoughts
    content = getattr(message, "content", None)
    return _of_parts(content) if isinstance(content, list) else ""


def _of_parts(parts: Iterable[Any]) -> str:
    """Return the text of the parts of a message that are thoughts, as Mistral sends them."""
    found = [part if isinstance(part, Mapping) else part.model_dump() for part in parts]
    texts = [part.get("thinking") for part in found if part.get("type") == "thinking"]
    inner = [part for text in texts if isinstance(text, list) for part in text if isinstance(part, Mapping)]
    return "".join([text for text in texts if isinstance(text, str)] + [str(part.get("text", "")) for part in inner])


def split(text: str) -> tuple[str, str]:
    """Part the thoughts at the beginning of a text, between `<think>` and `</think>`, from the answer that follows.

    Without the mark of their end there is no answer.

    Returns:
        The thoughts and the answer; the whole text is the answer where it does not begin with thoughts.
    """
    found = _MARKED.fullmatch(text)
    return ("", text) if found is None else (found["thoughts"].strip(), (found["answer"] or "").strip())


def read_embeddings(response: Any, request: Request, model: str) -> Reply:
    """Read a response with embeddings.

    Args:
        response: as the SDK gives it.
        request: what was asked: its tokens are estimated where the response does not count them.
        model: name of the model, where the response does not say it.

    Raises:
        BrokenResponse: it holds not one embedding for each text, or something else than numbers.
    """
    try:
        found = sorted(response.data, key=lambda one: one.index)
        vectors = [[float(number) for number in one.embedding] for one in found]
    except (AttributeError, TypeError, ValueError) as error:
        raise BrokenResponse(f"a success without readable embeddings ({type(error).__name__})") from None
    if not all(isfinite(number) for vector in vectors for number in vector):
        raise BrokenResponse("an embedding holds what is no number")
    tokens = getattr(getattr(response, "usage", None), "prompt_tokens", None)
    if type(tokens) is int and tokens >= 0:
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
"""Of OpenAI; "sensitive": Z.ai (docs.z.ai); the others: gateways to Anthropic, Google and Bedrock."""
_TEXT_PARTS = frozenset({"text", "output_text"})
_LONGEST_FINGERPRINT = 200


def chat_arguments(request: Request, offer: Offer, dialect: ThinkingFormat = ThinkingFormat.OPENAI) -> dict[str, Any]:
    """Return the arguments of a chat completion, but for the model and the longest answer.

    Args:
        request: what is asked.
        offer: what of it is sent.
        dialect: what the switch of thinking is called.
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
        for part in schemas_in(orjson.loads(schema))
    )


def read_chat(response: Any, request: Request, model: str) -> Reply:
    """Read a chat completion, with its money where the server says what it has charged.

    Args:
        response: as the SDK gives it.
        request: what was asked: its tokens are estimated where the response does not count them.
        model: name of the model, where the response does not say it.

    Raises:
        BrokenResponse: it says success and holds no answer.
    """
    try:
        choices = response.choices
        if not choices:
            raise BrokenResponse("a success without choices")
        message, reason = choices[0].message, choices[0].finish_reason
        refusal = _refusal(message)
        calls = getattr(message, "tool_calls", None)
        text = _arguments(calls[0]) if calls else refusal or _text_of(message.content)
        thinking = separate_thoughts(message)
        if isinstance(text, str) and not calls and not refusal and not thinking:
            thinking, text = split(text)
        name = response.model
    except (AttributeError, TypeError, KeyError, IndexError) as error:
        raise BrokenResponse(f"a success that is no chat completion ({type(error).__name__})") from None
    if not isinstance(text, str) or reason is None:
        raise BrokenResponse("a success whose message is not whole")
    return Reply(
        text=printable_unicode(text),
        finish=Finish.REFUSAL if refusal and not calls else _FINISHES.get(reason, Finish.STOP),
        usage=_read_usage(getattr(response, "usage", None), request, text, thinking),
        usd=charged(getattr(response, "usage", None)),
        seconds=0.0,
        model=printable_unicode(name) if isinstance(name, str) and name else model,
        thinking=printable_unicode(thinking),
        tier=read_tier(getattr(response, "service_tier", None)),
        fingerprint=_fingerprint(getattr(response, "system_fingerprint", None)),
    )


def _fingerprint(value: Any) -> str:
    return printable_unicode(value)[:_LONGEST_FINGERPRINT] if isinstance(value, str) else ""


def _refusal(message: Any) -> Any:
    """Return the refusal of a message, which LiteLLM keeps among the fields of a provider."""
    refusal = getattr(message, "refusal", None)
    fields = getattr(message, "provider_specific_fields", None)
    return refusal or (fields.get("refusal") if isinstance(fields, Mapping) else None)


def _text_of(content: Any) -> Any:
    """Return the text of a message, which may come in parts; those that hold thoughts are none of the answer."""
    if not isinstance(content, list):
        return content or ""
    parts = [part if isinstance(part, Mapping) else part.model_dump() for part in content]
    return "".join(part["text"] for part in parts if part.get("type", "text") in _TEXT_PARTS)


def _arguments(call: Any) -> Any:
    """Return the arguments of a tool's call, which some servers send as JSON instead of a text that holds it."""
    arguments = call.function.arguments
    return orjson.dumps(arguments).decode() if isinstance(arguments, Mapping) else arguments


def _read_usage(usage: Any, request: Request, text: str, thinking: str) -> Usage:
    details = getattr(usage, "prompt_tokens_details", None)
    prompt, completion = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
    reasoning = getattr(getattr(usage, "completion_tokens_details", None), "reasoning_tokens", None)
    total = _count(getattr(usage, "total_tokens", None))
    read, written, thoughts = _count(prompt), _count(completion), _count(reasoning)
    if read and written is not None and thoughts and read + written + thoughts == total:
        completion = written + thoughts  # xAI counts thoughts separately from the answer
    return counted_usage(
        prompt,
        completion,
        getattr(details, "cached_tokens", None),
        getattr(details, "cache_write_tokens", None),
        reasoning=reasoning,
        request=request,
        text=text,
        thinking=thinking,
    )


def charged(usage: Any) -> float | None:
    """Return what a server says that an answer has cost, in US dollars; None where it does not say.

    That is `usage.cost` of OpenRouter (openrouter.ai/docs, Usage Accounting). With a key of one's own (`is_byok`) it is
    the share of OpenRouter, and what the provider behind it charges is a separate field.
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


def counted_usage(
    prompt: Any,
    completion: Any,
    cached: Any,
    cache_written: Any,
    *,
    request: Request,
    text: str,
    reasoning: Any = None,
    thinking: str = "",
) -> Usage:
    """Take token counts from a response; what it does not count is estimated from the texts, and marked.

    A prompt of 0 tokens, or an answer of 0 that has text, is no count either.

    Args:
        prompt: tokens read, as the response says; anything.
        completion: tokens written, the same.
        cached: tokens from the provider's cache, the same.
        cache_written: tokens into it, the same.
        request: what was asked.
        text: what was answered.
        reasoning: tokens of thoughts among those written, as the response says; anything. Where it does not say, they
            are estimated from their text alone, and marked.
        thinking: the text of the thoughts, as far as it is known.
    """
    read_tokens, written_tokens, thought_tokens = _count(prompt), _count(completion), _count(reasoning)
    estimated = not read_tokens or written_tokens is None or (written_tokens == 0 and text != "")
    written = written_tokens or estimate_tokens(thinking, text)
    thoughts = estimate_tokens(thinking) if thought_tokens is None else thought_tokens
    read = read_tokens or ceil(estimate_prompt(request))
    of_cache = min(_count(cached) or 0, read)
    return Usage(
        prompt=read,
        completion=written,
        cached=of_cache,
        cache_written=min(_count(cache_written) or 0, read - of_cache),
        estimated=estimated,
        reasoning=min(thoughts, written),
        reasoning_estimated=thought_tokens is None and thoughts > 0,
    )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None

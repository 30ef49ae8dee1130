"""What a reply has cost: tokens and money, as its service counts them, in whatever form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import ceil, inf, isfinite
from typing import Any

from quorum.agents.llm.errors import BrokenResponse
from quorum.agents.llm.limits import estimate_prompt, estimate_tokens
from quorum.agents.llm.protocol import Request, Usage

MOST_TOKENS = 10**9
"""A reply that counts more tokens is broken: the longest contexts have some ten million (checked on 2026-11-28)."""
MOST_USD = 10**6
"""A reply that says it has cost more is broken, too."""
_LONGEST_NUMBER = 20


def part_of(value: Any, *names: str) -> Any:
    """Return a part within parts of a response, be it JSON or an object of an SDK; None where it is not there."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    return value


def body_of(content: bytes) -> Mapping[str, Any]:
    """Read a body for its usage, whatever else is wrong with it; nothing where it is no JSON object."""
    try:
        body = json.loads(content, parse_int=_lenient_integer)
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, Mapping) else {}


def _lenient_integer(text: str) -> int | float:
    return int(text) if len(text) <= _LONGEST_NUMBER else float(text)


def charged(usage: Any) -> float | None:
    """Return what a server says that an answer has cost, in US dollars; None where it does not say.

    That is `usage.cost` of OpenRouter (openrouter.ai/docs, Usage Accounting). With a key of one's own (`is_byok`) it is
    the share of OpenRouter, and what the provider behind it charges is a separate field.

    Raises:
        BrokenResponse: no reply costs so much.
    """
    cost = amount(part_of(usage, "cost"))
    if cost is None or part_of(usage, "is_byok") is not True:
        return cost
    upstream = amount(part_of(usage, "cost_details", "upstream_inference_cost"))
    return None if upstream is None else cost + upstream


def amount(value: Any) -> float | None:
    """Return an amount of money, in US dollars; None for what is none.

    Raises:
        BrokenResponse: no reply costs so much.
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if value > MOST_USD:
        raise BrokenResponse(f"a success that has cost more than {MOST_USD:,} US dollars, as it says")
    return float(value) if isfinite(value) and value >= 0 else None


def count(value: Any) -> int | None:
    """Return a number of tokens; None for what is none.

    Raises:
        BrokenResponse: no reply has so many.
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if value > MOST_TOKENS and value != inf:
        raise BrokenResponse(f"a success that counts more than {MOST_TOKENS:,} tokens")
    return int(value) if value >= 0 and (isinstance(value, int) or value.is_integer()) else None


def added(*counts: int | None) -> int | None:
    """Add numbers of tokens; None as soon as one is not known."""
    known = [number for number in counts if number is not None]
    return sum(known) if len(known) == len(counts) else None


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

    Raises:
        BrokenResponse: no reply has so many tokens.
    """
    read_tokens, written_tokens, thought_tokens = count(prompt), count(completion), count(reasoning)
    estimated = not read_tokens or written_tokens is None or (written_tokens == 0 and text != "")
    written = written_tokens or estimate_tokens(thinking, text)
    thoughts = estimate_tokens(thinking) if thought_tokens is None else thought_tokens
    read = read_tokens or ceil(estimate_prompt(request))
    of_cache = min(count(cached) or 0, read)
    return Usage(
        prompt=read,
        completion=written,
        cached=of_cache,
        cache_written=min(count(cache_written) or 0, read - of_cache),
        estimated=estimated,
        reasoning=min(thoughts, written),
        reasoning_estimated=thought_tokens is None and thoughts > 0,
    )

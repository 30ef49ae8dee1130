"""The cost of a reply: tokens and money as reported by its service, in any format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import ceil, inf, isfinite
from typing import Any

from quorum.agents.llm.errors import BrokenResponse
from quorum.agents.llm.limits import estimate_prompt, estimate_tokens
from quorum.agents.llm.protocol import Request, Usage

MOST_TOKENS = 10**9
"""A reply that reports more tokens is broken: the longest contexts have about ten million (checked on 2026-11-28)."""
MOST_USD = 10**6
"""A reply that reports a higher cost is broken, too."""
_LONGEST_NUMBER = 20


def part_of(value: Any, *names: str) -> Any:
    """Return a nested part of a response, in JSON or an SDK object; None if it is missing."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    return value


def body_of(content: bytes) -> Mapping[str, Any]:
    """Read a body for its usage, whatever else is wrong with it; empty if it is not a JSON object."""
    try:
        body = json.loads(content, parse_int=_lenient_integer)
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, Mapping) else {}


def _lenient_integer(text: str) -> int | float:
    return int(text) if len(text) <= _LONGEST_NUMBER else float(text)


def charged(usage: Any) -> float | None:
    """Return the cost of an answer as reported by the server, in US dollars; None if it reports none.

    This is OpenRouter's `usage.cost` (openrouter.ai/docs, Usage Accounting). With the user's own provider key
    (`is_byok`), it is OpenRouter's share, and the provider's charge is a separate field.

    Raises:
        BrokenResponse: the cost is impossibly high.
    """
    cost = amount(part_of(usage, "cost"))
    if cost is None or part_of(usage, "is_byok") is not True:
        return cost
    upstream = amount(part_of(usage, "cost_details", "upstream_inference_cost"))
    return None if upstream is None else cost + upstream


def amount(value: Any) -> float | None:
    """Return an amount of money in US dollars; None if the value is not one.

    Raises:
        BrokenResponse: the cost is impossibly high.
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if value > MOST_USD:
        raise BrokenResponse(f"a successful response that reports a cost of more than {MOST_USD:,} US dollars")
    return float(value) if isfinite(value) and value >= 0 else None


def count(value: Any) -> int | None:
    """Return a number of tokens; None if the value is not one.

    Raises:
        BrokenResponse: the count is impossibly high.
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if value > MOST_TOKENS and value != inf:
        raise BrokenResponse(f"a successful response that reports more than {MOST_TOKENS:,} tokens")
    return int(value) if value >= 0 and (isinstance(value, int) or value.is_integer()) else None


def added(*counts: int | None) -> int | None:
    """Add token counts; None if any is unknown."""
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
    """Read token counts from a response; missing ones are estimated from the texts and marked.

    A prompt of 0 tokens, or an answer of 0 tokens with text, counts as missing.

    Args:
        prompt: reported tokens read; any value.
        completion: reported tokens written; any value.
        cached: reported tokens from the provider's cache; any value.
        cache_written: reported tokens written to the cache; any value.
        request: the request.
        text: text of the answer.
        reasoning: reported thinking tokens among those written; any value. If missing, they are estimated from the
            text of the thoughts alone, and marked.
        thinking: text of the thoughts, as far as known.

    Raises:
        BrokenResponse: a count is impossibly high.
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

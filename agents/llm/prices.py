"""What tokens cost: a dated table of our own, then the price map of litellm where that is installed."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from quorum.agents.llm.protocol import Usage

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Price of a model, in US dollars per million tokens.

    Attributes:
        input: tokens read.
        output: tokens written.
        cached: tokens read from the provider's own prompt cache.
        source: where the price stands.
        date: when it stood there.
    """

    input: float
    output: float
    cached: float
    source: str
    date: str

    def usd(self, usage: Usage) -> float:
        """Return the money that tokens cost. Surcharges (cache writes, long contexts, priority) are not in it."""
        fresh = usage.prompt - usage.cached
        return (fresh * self.input + usage.cached * self.cached + usage.completion * self.output) / MILLION


_DATE = "2026-10-21"
_OPENAI = "developers.openai.com/api/docs/pricing, as in the price map of litellm 1.106.2"
_ANTHROPIC = "platform.claude.com/docs/en/about-claude/pricing, as in the price map of litellm 1.106.2"

TABLE: dict[tuple[str, str], Price] = {
    ("openai", "gpt-4.1"): Price(2.0, 8.0, 0.5, _OPENAI, _DATE),
    ("openai", "gpt-4.1-mini"): Price(0.4, 1.6, 0.1, _OPENAI, _DATE),
    ("openai", "gpt-4o"): Price(2.5, 10.0, 1.25, _OPENAI, _DATE),
    ("openai", "gpt-4o-mini"): Price(0.15, 0.6, 0.075, _OPENAI, _DATE),
    ("openai", "gpt-5"): Price(1.25, 10.0, 0.125, _OPENAI, _DATE),
    ("openai", "gpt-5-mini"): Price(0.25, 2.0, 0.025, _OPENAI, _DATE),
    ("openai", "gpt-5-nano"): Price(0.05, 0.4, 0.005, _OPENAI, _DATE),
    ("openai", "gpt-6-sol"): Price(2.0, 10.0, 0.2, _OPENAI, _DATE),
    ("openai", "gpt-6-luna"): Price(0.1, 0.5, 0.01, _OPENAI, _DATE),
    ("anthropic", "claude-haiku-4-5"): Price(1.0, 5.0, 0.1, _ANTHROPIC, _DATE),
    ("anthropic", "claude-sonnet-4-5"): Price(3.0, 15.0, 0.3, _ANTHROPIC, _DATE),
    ("anthropic", "claude-sonnet-5"): Price(2.0, 10.0, 0.2, _ANTHROPIC, _DATE),
    ("anthropic", "claude-opus-4-5"): Price(5.0, 25.0, 0.5, _ANTHROPIC, _DATE),
    ("anthropic", "claude-opus-5"): Price(5.0, 25.0, 0.5, _ANTHROPIC, _DATE),
}
"""Prices by provider and model, exactly as they are named."""


def find_price(provider: str, model: str) -> Price | None:
    """Look a price up; None when it is not known, which is not the same as nothing to pay.

    Args:
        provider: `openai`, `anthropic`, or `litellm`, whose models carry their provider as a prefix (`openai/gpt-5`).
        model: the model, as it is asked for.
    """
    prefix, slash, name = model.partition("/")
    own = TABLE.get((prefix, name)) if provider == "litellm" and slash else TABLE.get((provider, model))
    return own or _litellm_price(provider, model)


def _litellm_price(provider: str, model: str) -> Price | None:
    """Look a price up in the map that litellm brings; the package itself is not imported, which would take seconds."""
    entries, version = _litellm_map()
    names = [model] if provider == "litellm" else [model, f"{provider}/{model}"]
    if provider == "litellm" and "/" in model:
        provider, _, bare = model.partition("/")
        names.append(bare)
    for name in names:
        entry = entries.get(name)
        if entry is None or (provider != "litellm" and entry.get("litellm_provider") != provider):
            continue
        read, written = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
        if read is None or written is None:
            continue
        cached = entry.get("cache_read_input_token_cost")
        return Price(
            input=read * MILLION,
            output=written * MILLION,
            cached=(read if cached is None else cached) * MILLION,
            source=f"price map of litellm {version}",
            date=f"release of litellm {version}",
        )
    return None


@cache
def _litellm_map() -> tuple[dict[str, dict[str, Any]], str]:
    """Return litellm's own price map and its version; an empty map when it is not installed."""
    package = importlib.util.find_spec("litellm")
    if package is None or not package.submodule_search_locations:
        return {}, ""
    path = Path(package.submodule_search_locations[0]) / "model_prices_and_context_window_backup.json"
    if not path.is_file():
        return {}, ""
    entries: dict[str, dict[str, Any]] = orjson.loads(path.read_bytes())
    return entries, importlib.metadata.version("litellm")

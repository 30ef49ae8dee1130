"""What tokens cost: a dated table by model and tier of service, then the price map of litellm where it is installed.

A tier says how soon a provider answers. `llm.service_tier` asks for one, and the response names the tier that answered.
A batch is a tier, too.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from quorum.agents.llm.protocol import Model, Reply, Request, Usage

BATCH = "batch"
"""Answers of a batch, within 24 hours. Anthropic names it in `usage.service_tier`; OpenAI does not."""
OFFER_BATCHES = ("openai", "anthropic")
"""Providers whose batches can be sent."""
FLEX = "flex"
PRIORITY = "priority"
SCALE = "scale"

_TOLD = {FLEX: FLEX, PRIORITY: PRIORITY, "fast": PRIORITY, SCALE: SCALE, BATCH: BATCH}


def read_tier(value: Any) -> str:
    """Return the tier that a response names; empty for the usual one, whatever a server calls it.

    Args:
        value: of `service_tier`, anything.
    """
    return _TOLD.get(value, "") if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Discount:
    """What the tokens of a tier cost, relative to the usual one.

    Attributes:
        factor: of all prices; more than 1 for a tier that costs more.
        cached: whether tokens from the provider's prompt cache are cheaper than others in this tier, too.
    """

    factor: float
    cached: bool = True


HALF = Discount(0.5)


@dataclass(frozen=True, slots=True)
class Service:
    """A provider.

    Attributes:
        name: as tables write it; that of its preset.
        prices: name under which the price map of litellm has its models; empty where that would be a guess.
        keys: the page on which its keys are made.
    """

    name: str
    prices: str
    keys: str


SERVICES = {
    "api.openai.com": Service("openai", "openai", "platform.openai.com/api-keys"),
    "api.anthropic.com": Service("anthropic", "anthropic", "console.anthropic.com/settings/keys"),
    "openai.azure.com": Service("azure", "", "portal.azure.com, Keys and Endpoint of your resource"),
    "services.ai.azure.com": Service("azure", "", "portal.azure.com, Keys and Endpoint of your resource"),
    "generativelanguage.googleapis.com": Service("gemini", "gemini", "aistudio.google.com/apikey"),
    "openrouter.ai": Service("openrouter", "", "openrouter.ai/settings/keys"),
    "api.deepseek.com": Service("deepseek", "deepseek", "platform.deepseek.com/api_keys"),
    "api.x.ai": Service("xai", "xai", "console.x.ai"),
    "api.mistral.ai": Service("mistral", "mistral", "console.mistral.ai/api-keys"),
    "api.groq.com": Service("groq", "groq", "console.groq.com/keys"),
    "api.together.ai": Service("together", "together_ai", "api.together.ai/settings/api-keys"),
    "api.together.xyz": Service("together", "together_ai", "api.together.ai/settings/api-keys"),
}
"""Providers by host, their subdomains included, as their documentation had them on 2026-11-23 (`configs/llm`).

A deployment of Azure has any name, and OpenRouter says itself what it charges: neither has prices of a table.
"""


def service_at(address: str | None) -> Service | None:
    """Return who answers at an address; None where that is not known."""
    host = urlsplit(address or "").hostname or ""
    found = (service for known, service in SERVICES.items() if host == known or host.endswith(f".{known}"))
    return next(found, None)


def provider_name(name: str, model: str, address: str | None) -> str:
    """Return what tables call the provider of a model: its service, its own machine, or the component's name.

    Args:
        name: of the component: `openai`, `litellm`, `simulated`.
        model: as the configuration has it; LiteLLM's begin with the provider.
        address: where it is asked; None where LiteLLM knows that, or nobody is asked.
    """
    if name == "litellm":
        return model.partition("/")[0] if "/" in model else name
    service = service_at(address)
    if service is not None or not address:
        return service.name if service is not None else name
    parts = urlsplit(address)
    return parts.netloc.rpartition("@")[2]


MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Price of a model, in US dollars per million tokens.

    Attributes:
        input: tokens read.
        output: tokens written.
        cached: tokens read from the provider's own prompt cache.
        cache_write: tokens read and written into that cache, for the usual time of its provider.
        source: where the price stands.
        date: when it stood there.
        given: whether the user has set it, so that it takes precedence over the cost that an answer reports.
        tiers: what differs in other tiers of service than the usual one, by tier.
    """

    input: float
    output: float
    cached: float
    cache_write: float
    source: str
    date: str
    given: bool = False
    tiers: Mapping[str, Discount] = field(default_factory=dict, compare=False)

    def of_tier(self, tier: str) -> Price | None:
        """Return the price in a tier of service; None where it is not known. The usual tier is the empty text.

        A price that the user has given is that of the tier that the user asks for, whichever it is; in a batch it is
        halved, as at OpenAI and Anthropic.
        """
        discount = self.tiers.get(tier)
        if discount is None and self.given:
            discount = HALF if tier == BATCH else Discount(1.0)
        if not tier:
            return self
        if discount is None:
            return None
        cached = self.cached if discount.cached else self.input
        return replace(
            self,
            input=self.input * discount.factor,
            output=self.output * discount.factor,
            cached=cached * discount.factor,
            cache_write=self.cache_write * discount.factor,
            tiers={},
        )

    def usd(self, usage: Usage) -> float:
        """Return the money that tokens cost. Surcharges (long contexts, longer caching) are not in it."""
        fresh = usage.prompt - usage.cached - usage.cache_written
        read = fresh * self.input + usage.cached * self.cached + usage.cache_written * self.cache_write
        return (read + usage.completion * self.output) / MILLION


_DATE = "2026-10-21"
_OPENAI = "developers.openai.com/api/docs/pricing, as in the price map of litellm 1.106.2"
_ANTHROPIC = "platform.claude.com/docs/en/about-claude/pricing, as in the price map of litellm 1.106.2"

_GPT_4 = {BATCH: Discount(0.5, cached=False)}
_GPT_4_1 = {**_GPT_4, PRIORITY: Discount(1.75)}
_GPT_4O = {**_GPT_4, PRIORITY: Discount(1.7)}
_GPT_4O_MINI = {**_GPT_4, PRIORITY: Discount(5 / 3)}
_FLEX = {BATCH: HALF, FLEX: HALF}
_DOUBLE = {**_FLEX, PRIORITY: Discount(2.0)}
_GPT_5_MINI = {**_FLEX, PRIORITY: Discount(1.8)}
_BATCHES = {BATCH: HALF}
"""Tiers of Anthropic's models. Its priority tier is sold by contract, so the price of its tokens is not known."""

TABLE: dict[tuple[str, str], Price] = {
    ("openai", "gpt-4.1"): Price(2.0, 8.0, 0.5, 2.0, _OPENAI, _DATE, tiers=_GPT_4_1),
    ("openai", "gpt-4.1-mini"): Price(0.4, 1.6, 0.1, 0.4, _OPENAI, _DATE, tiers=_GPT_4_1),
    ("openai", "gpt-4o"): Price(2.5, 10.0, 1.25, 2.5, _OPENAI, _DATE, tiers=_GPT_4O),
    ("openai", "gpt-4o-2024-05-13"): Price(5.0, 15.0, 5.0, 5.0, _OPENAI, _DATE, tiers=_GPT_4_1),
    ("openai", "gpt-4o-mini"): Price(0.15, 0.6, 0.075, 0.15, _OPENAI, _DATE, tiers=_GPT_4O_MINI),
    ("openai", "gpt-5"): Price(1.25, 10.0, 0.125, 1.25, _OPENAI, _DATE, tiers=_DOUBLE),
    ("openai", "gpt-5-mini"): Price(0.25, 2.0, 0.025, 0.25, _OPENAI, _DATE, tiers=_GPT_5_MINI),
    ("openai", "gpt-5-nano"): Price(0.05, 0.4, 0.005, 0.05, _OPENAI, _DATE, tiers=_FLEX),
    ("openai", "gpt-6-sol"): Price(2.0, 10.0, 0.2, 2.5, _OPENAI, _DATE, tiers=_DOUBLE),
    ("openai", "gpt-6-luna"): Price(0.1, 0.5, 0.01, 0.125, _OPENAI, _DATE, tiers=_DOUBLE),
    ("anthropic", "claude-haiku-4-5"): Price(1.0, 5.0, 0.1, 1.25, _ANTHROPIC, _DATE, tiers=_BATCHES),
    ("anthropic", "claude-sonnet-4-5"): Price(3.0, 15.0, 0.3, 3.75, _ANTHROPIC, _DATE, tiers=_BATCHES),
    ("anthropic", "claude-sonnet-5"): Price(2.0, 10.0, 0.2, 2.5, _ANTHROPIC, _DATE, tiers=_BATCHES),
    ("anthropic", "claude-opus-4-5"): Price(5.0, 25.0, 0.5, 6.25, _ANTHROPIC, _DATE, tiers=_BATCHES),
    ("anthropic", "claude-opus-5"): Price(5.0, 25.0, 0.5, 6.25, _ANTHROPIC, _DATE, tiers=_BATCHES),
}
"""Prices by provider and model. A snapshot (`gpt-5-mini-2025-08-07`) stands here only where its price is its own.

Tiers are those of the same sources and the same day. Flex stands with the models that offer it.
"""

_SNAPSHOT = re.compile(r"(?P<name>.+)-(\d{4}-\d{2}-\d{2}|\d{8})")
"""A model's name with the date of a snapshot: as OpenAI writes it, or Anthropic."""


def find_price(provider: str, model: str) -> Price | None:
    """Look a price up; None when it is not known, which is not the same as nothing to pay.

    A snapshot without a separate price has that of its model.

    Args:
        provider: `openai`, `anthropic`, or `litellm`, whose models carry their provider as a prefix (`openai/gpt-5`).
        model: the model, as it is asked for.
    """
    found = _exact_price(provider, model)
    snapshot = _SNAPSHOT.fullmatch(model)
    return found if found is not None or snapshot is None else _exact_price(provider, snapshot["name"])


def _exact_price(provider: str, model: str) -> Price | None:
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
        cached, cache_write = (entry.get(f"cache_{kind}_input_token_cost") for kind in ("read", "creation"))
        return Price(
            input=read * MILLION,
            output=written * MILLION,
            cached=(read if cached is None else cached) * MILLION,
            cache_write=(read if cache_write is None else cache_write) * MILLION,
            source=f"price map of litellm {version}",
            date=f"release of litellm {version}",
            tiers=_litellm_tiers(entry, written),
        )
    return None


def _litellm_tiers(entry: Mapping[str, Any], written: float) -> dict[str, Discount]:
    """Read the tiers of an entry of litellm's map, as far as it has prices of both read and written tokens."""
    tiers = {}
    for tier, suffix in ((BATCH, "_batches"), (FLEX, "_flex"), (PRIORITY, "_priority")):
        own = entry.get(f"output_cost_per_token{suffix}")
        if own is not None and written and f"input_cost_per_token{suffix}" in entry:
            tiers[tier] = Discount(own / written, cached=f"cache_read_input_token_cost{suffix}" in entry)
    return tiers


class Priced:
    """A model whose answers have a price: what they say that they have cost, else tokens times a price.

    It stands outside of the cache, so that an answer from there has the price that is known now.

    Args:
        model: the model.
        price: of its tokens.
    """

    def __init__(self, model: Model, price: Price) -> None:
        self._model = model
        self._price = price

    async def complete(self, request: Request) -> Reply:
        """Answer a request."""
        reply = await self._model.complete(request)
        if reply.usd is not None and not self._price.given:
            return reply
        price = self._price.of_tier(reply.tier)
        return replace(reply, usd=None if price is None else price.usd(reply.usage))


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

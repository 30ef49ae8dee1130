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

import msgspec
import orjson

from quorum.agents.llm.protocol import Model, Reply, Request, Usage
from quorum.agents.llm.tables import model_table

BATCH = "batch"
"""Answers of a batch, within 24 hours. Anthropic names it in `usage.service_tier`; OpenAI does not."""
OFFER_BATCHES = ("openai", "openai_responses", "anthropic", "gemini")
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
        keys: the page on which its keys are made.
        prices: name under which the price map of litellm has its models; empty where that would be a guess.
    """

    name: str
    keys: str
    prices: str = ""


@cache
def _services() -> dict[str, Service]:
    """Return the providers by host, their subdomains included."""
    return model_table("services", dict[str, Service])


def service_at(address: str | None) -> Service | None:
    """Return who answers at an address; None where that is not known."""
    host = urlsplit(address or "").hostname or ""
    found = (service for known, service in _services().items() if host == known or host.endswith(f".{known}"))
    return next(found, None)


def services_of(model: str) -> set[str]:
    """Return the names of the providers whose own prices list a model."""
    return {one.name for one in _services().values() if one.prices and find_price(one.prices, model) is not None}


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


@dataclass(frozen=True, slots=True)
class _PriceList:
    """The prices of a provider's models, and where and when they stood."""

    source: str
    date: str
    models: dict[str, dict[str, Any]]


@cache
def price_table() -> Mapping[tuple[str, str], Price]:
    """Return the dated prices of our own, by provider and model."""
    return {
        (provider, model): msgspec.convert({**price, "source": known.source, "date": known.date}, type=Price)
        for provider, known in model_table("prices", dict[str, _PriceList]).items()
        for model, price in known.models.items()
    }


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
    own = price_table().get((prefix, name) if provider == "litellm" and slash else (provider, model))
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

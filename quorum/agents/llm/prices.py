"""Token prices from `prices.yaml`: dated lists by provider, model and service tier.

A tier determines how soon a provider answers. `llm.service_tier` requests one, and the response names the tier that
answered. Batches are a tier, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import msgspec

from quorum.agents.llm.paid import charge, paid_with
from quorum.agents.llm.protocol import Model, Reply, Request, Usage
from quorum.agents.llm.tables import model_table, price_file

BATCH = "batch"
"""Answers of a batch, within 24 hours. Anthropic names it in `usage.service_tier`; OpenAI does not."""
OFFER_BATCHES = ("openai", "openai_responses", "anthropic", "gemini")
"""Providers with batch support."""
FLEX = "flex"
PRIORITY = "priority"
SCALE = "scale"

_TOLD = {FLEX: FLEX, PRIORITY: PRIORITY, "fast": PRIORITY, SCALE: SCALE, BATCH: BATCH}


def read_tier(value: Any) -> str:
    """Return the tier that a response names; empty for the default tier, whatever the server calls it.

    Args:
        value: value of `service_tier`, of any type.
    """
    return _TOLD.get(value, "") if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Service:
    """A provider.

    Attributes:
        name: its name in tables; also that of its preset.
        variable: environment variable of its key, which is sent to no other host.
        keys: page where users create keys.
        prices: name of its list in `prices.yaml`; empty if it has none.
    """

    name: str
    variable: str
    keys: str
    prices: str = ""


@cache
def _services() -> dict[str, Service]:
    """Return the providers by host; each host includes its subdomains."""
    return model_table("services", dict[str, Service])


def service_at(address: str | None) -> Service | None:
    """Return the provider at an address; None if unknown."""
    host = urlsplit(address or "").hostname or ""
    found = (service for known, service in _services().items() if host == known or host.endswith(f".{known}"))
    return next(found, None)


def hosts_of(variable: str) -> list[str]:
    """Return the hosts that the key in a variable belongs to; none if it may belong to any server."""
    return [host for host, service in _services().items() if service.variable == variable]


def services_of(model: str) -> set[str]:
    """Return the names of the providers that list a price for a model."""
    return {one.name for one in _services().values() if one.prices and find_price(one.prices, model) is not None}


def provider_name(name: str, model: str, address: str | None) -> str:
    """Return the table name of a model's provider: its service, the local machine, or the component's name.

    Args:
        name: name of the component: `openai`, `litellm`, `simulated`.
        model: the configured model; LiteLLM's names start with the provider.
        address: the server's address; None if LiteLLM knows it or there is no server.
    """
    if name == "litellm":
        return model.partition("/")[0] if "/" in model else name
    service = service_at(address)
    if service is not None or not address:
        return service.name if service is not None else name
    parts = urlsplit(address)
    return parts.netloc.rpartition("@")[2]


MILLION = 1_000_000
SET_PRICES = "llm.prices='{input: DOLLARS, output: DOLLARS}', per million tokens"
"""How to give the price of a model that no table lists."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Token prices in US dollars per million.

    Attributes:
        input: tokens read.
        output: tokens written.
        cached: tokens read from the provider's prompt cache.
        cache_write: tokens read and written to that cache, for the provider's default lifetime.
    """

    input: float
    output: float
    cached: float
    cache_write: float


@dataclass(frozen=True, slots=True)
class LongPrompt:
    """The surcharge on a long prompt, applied to all tokens of its call.

    Attributes:
        above: longest prompt without surcharge, in tokens.
        input: factor for tokens read.
        output: factor for tokens written.
    """

    above: int
    input: float
    output: float


@dataclass(frozen=True, slots=True)
class Price(Rates):
    """Price of a model.

    Attributes:
        source: where the price was published.
        date: when it was read, ISO 8601; empty for a price that the user has set.
        given: whether the user has set it; then it takes precedence over the cost that an answer reports.
        long: surcharge on long prompts; None for none.
        tiers: prices in other service tiers, by tier.
    """

    source: str
    date: str
    given: bool = False
    long: LongPrompt | None = None
    tiers: Mapping[str, Rates] = field(default_factory=dict, compare=False)

    def of_tier(self, tier: str) -> Price | None:
        """Return the price in a service tier, None if unknown. The default tier is the empty string.

        A price set by the user applies to the tier that the user requests; batches cost half of it, as at OpenAI and
        Anthropic.
        """
        if not tier:
            return self
        rates = self.tiers.get(tier)
        if rates is None and self.given:
            share = 0.5 if tier == BATCH else 1.0
            rates = Rates(self.input * share, self.output * share, self.cached * share, self.cache_write * share)
        if rates is None:
            return None
        return replace(
            self,
            input=rates.input,
            output=rates.output,
            cached=rates.cached,
            cache_write=rates.cache_write,
            tiers={},
        )

    def usd(self, usage: Usage, calls: int = 1) -> float:
        """Return the cost of tokens, without the surcharge for longer caching.

        Args:
            usage: the tokens.
            calls: number of calls they come from; their mean decides whether a prompt is long.
        """
        long = self.long is not None and usage.prompt > self.long.above * calls
        read_factor, written_factor = (self.long.input, self.long.output) if self.long and long else (1.0, 1.0)
        fresh = usage.prompt - usage.cached - usage.cache_written
        read = fresh * self.input + usage.cached * self.cached + usage.cache_written * self.cache_write
        return (read * read_factor + usage.completion * self.output * written_factor) / MILLION


OLD = 90
"""Days after which a price list counts as old."""


@dataclass(frozen=True, slots=True)
class PriceList:
    """The prices of a provider's models.

    Attributes:
        source: where they were published.
        date: when they were read, ISO 8601.
        models: price of each model.
        unpriced: known models without a price, and why.
    """

    source: str
    date: str
    models: dict[str, dict[str, Any]]
    unpriced: dict[str, str] = field(default_factory=dict)


def days_old(day: str, today: date) -> int:
    """Return the age of a price in days.

    Args:
        day: its date, ISO 8601.
        today: the reference date.
    """
    return (today - date.fromisoformat(day)).days


SEPARATOR = ", "
"""Between the names of models with the same price, in the file."""


@cache
def price_lists() -> Mapping[str, PriceList]:
    """Return the price lists by provider."""
    return {provider: _by_model(known) for provider, known in price_file(dict[str, PriceList]).items()}


def _by_model(known: PriceList) -> PriceList:
    models = {name: price for names, price in known.models.items() for name in names.split(SEPARATOR)}
    return replace(known, models=models)


@cache
def price_table() -> Mapping[tuple[str, str], Price]:
    """Return the prices by provider and model."""
    return {
        (provider, model): msgspec.convert({**price, "source": known.source, "date": known.date}, type=Price)
        for provider, known in price_lists().items()
        for model, price in known.models.items()
    }


SNAPSHOT = re.compile(r"(?P<name>.+)-(\d{4}-\d{2}-\d{2}|\d{8})")
"""A model name with a snapshot date, in OpenAI's or Anthropic's notation."""


def find_price(provider: str, model: str) -> Price | None:
    """Look up a price; None if unknown, which does not mean free.

    A snapshot without its own price has the price of its model.

    Args:
        provider: name of the price list, or `litellm`, whose model names start with the provider
            (`gemini/gemini-2.5-flash`).
        model: the configured model name.
    """
    if provider == "litellm":
        provider, _, model = model.partition("/")
    snapshot = SNAPSHOT.fullmatch(model)
    names = [model, snapshot["name"]] if snapshot is not None else [model]
    return next((price for name in names if (price := price_table().get((provider, name))) is not None), None)


class Priced:
    """A model whose answers have a cost: the one they report, else tokens times a price.

    It wraps the cache, so that a cached answer gets the currently known price.

    Args:
        model: the model.
        price: price of its tokens.
    """

    def __init__(self, model: Model, price: Price) -> None:
        self._model = model
        self._price = price

    async def complete(self, request: Request) -> Reply:
        """Answer a request."""
        try:
            reply = await self._model.complete(request)
        except BaseException as error:
            if (paid := paid_with(error)) is not None:
                charge(error, self._priced(paid, paid.unusable))
            raise
        return self._priced(reply, reply.unusable + 1)

    def _priced(self, reply: Reply, replies: int) -> Reply:
        """Return a reply with the total cost of several replies to one prompt."""
        if reply.usd is not None and not self._price.given:
            return reply
        price = self._price.of_tier(reply.tier)
        return replace(reply, usd=None if price is None else price.usd(reply.usage, replies))

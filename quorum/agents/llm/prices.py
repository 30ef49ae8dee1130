"""What tokens cost: dated lists by provider, model and tier of service, of `prices.yaml`.

A tier says how soon a provider answers. `llm.service_tier` asks for one, and the response names the tier that answered.
A batch is a tier, too.
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
class Service:
    """A provider.

    Attributes:
        name: as tables write it; that of its preset.
        variable: the environment variable of its key, which is sent to no other host.
        keys: the page on which its keys are made.
        prices: name of its list in `prices.yaml`; empty where it has none.
    """

    name: str
    variable: str
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


def hosts_of(variable: str) -> list[str]:
    """Return the hosts for which the key in a variable is meant; none where it may be that of any server."""
    return [host for host, service in _services().items() if service.variable == variable]


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
class Rates:
    """What tokens cost, in US dollars per million.

    Attributes:
        input: tokens read.
        output: tokens written.
        cached: tokens read from the provider's own prompt cache.
        cache_write: tokens read and written into that cache, for the usual time of its provider.
    """

    input: float
    output: float
    cached: float
    cache_write: float


@dataclass(frozen=True, slots=True)
class LongPrompt:
    """The surcharge on a long prompt, for all tokens of its call.

    Attributes:
        above: tokens of the longest prompt without it.
        input: factor of what is read.
        output: factor of what is written.
    """

    above: int
    input: float
    output: float


@dataclass(frozen=True, slots=True)
class Price(Rates):
    """Price of a model.

    Attributes:
        source: where the price stands.
        date: when it stood there, ISO 8601; empty for one that the user has given.
        given: whether the user has set it, so that it takes precedence over the cost that an answer reports.
        long: the surcharge on long prompts; None for none.
        tiers: prices in other tiers of service than the usual one, by tier.
    """

    source: str
    date: str
    given: bool = False
    long: LongPrompt | None = None
    tiers: Mapping[str, Rates] = field(default_factory=dict, compare=False)

    def of_tier(self, tier: str) -> Price | None:
        """Return the price in a tier of service; None where it is not known. The usual tier is the empty text.

        A price that the user has given is that of the tier that the user asks for, whichever it is; in a batch it is
        halved, as at OpenAI and Anthropic.
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
        """Return the money that tokens cost. A surcharge for longer caching is not in it.

        Args:
            usage: the tokens.
            calls: of which they are the sum; whether a prompt is long is judged by their mean.
        """
        long = self.long is not None and usage.prompt > self.long.above * calls
        read_factor, written_factor = (self.long.input, self.long.output) if self.long and long else (1.0, 1.0)
        fresh = usage.prompt - usage.cached - usage.cache_written
        read = fresh * self.input + usage.cached * self.cached + usage.cache_written * self.cache_write
        return (read * read_factor + usage.completion * self.output * written_factor) / MILLION


OLD = 90
"""Days after which a list of prices is old."""


@dataclass(frozen=True, slots=True)
class PriceList:
    """The prices of a provider's models.

    Attributes:
        source: where they stood.
        date: when, ISO 8601.
        models: the prices of each.
        unpriced: models that are known without a price, and why.
    """

    source: str
    date: str
    models: dict[str, dict[str, Any]]
    unpriced: dict[str, str] = field(default_factory=dict)


def days_old(day: str, today: date) -> int:
    """Return the age of a price in days.

    Args:
        day: its date, ISO 8601.
        today: from which it is counted.
    """
    return (today - date.fromisoformat(day)).days


@cache
def price_lists() -> Mapping[str, PriceList]:
    """Return the lists of prices by provider."""
    return price_file(dict[str, PriceList])


@cache
def price_table() -> Mapping[tuple[str, str], Price]:
    """Return the prices by provider and model."""
    return {
        (provider, model): msgspec.convert({**price, "source": known.source, "date": known.date}, type=Price)
        for provider, known in price_lists().items()
        for model, price in known.models.items()
    }


SNAPSHOT = re.compile(r"(?P<name>.+)-(\d{4}-\d{2}-\d{2}|\d{8})")
"""A model's name with the date of a snapshot: as OpenAI writes it, or Anthropic."""


def find_price(provider: str, model: str) -> Price | None:
    """Look a price up; None when it is not known, which is not the same as nothing to pay.

    A snapshot without a separate price has that of its model.

    Args:
        provider: name of its list, or `litellm`, whose models carry that as a prefix (`gemini/gemini-2.5-flash`).
        model: the model, as it is asked for.
    """
    if provider == "litellm":
        provider, _, model = model.partition("/")
    snapshot = SNAPSHOT.fullmatch(model)
    names = [model, snapshot["name"]] if snapshot is not None else [model]
    return next((price for name in names if (price := price_table().get((provider, name))) is not None), None)


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
        try:
            reply = await self._model.complete(request)
        except BaseException as error:
            if (paid := paid_with(error)) is not None:
                charge(error, self._priced(paid, paid.unusable))
            raise
        return self._priced(reply, reply.unusable + 1)

    def _priced(self, reply: Reply, replies: int) -> Reply:
        """Return what several replies to one prompt cost together."""
        if reply.usd is not None and not self._price.given:
            return reply
        price = self._price.of_tier(reply.tier)
        return replace(reply, usd=None if price is None else price.usd(reply.usage, replies))

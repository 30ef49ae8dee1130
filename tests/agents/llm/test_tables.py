"""The tables of models: every key is a field of what is made of it, since the conversion skips what is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import yaml

from quorum.agents.llm.prices import LongPrompt, Price, PriceList, Rates, Service
from quorum.agents.llm.providers.thinking import Family
from tests.conftest import ROOT

TABLES, PRICES = (
    yaml.safe_load((ROOT / "quorum" / "agents" / "llm" / file).read_text(encoding="utf-8"))
    for file in ("models.yaml", "prices.yaml")
)


def entries() -> Iterator[tuple[type[Any], Mapping[str, Any]]]:
    """Return every entry of the tables with the class that it is made an object of."""
    yield from ((Service, service) for service in TABLES["services"].values())
    for provider in PRICES.values():
        yield PriceList, provider
        for price in provider["models"].values():
            yield Price, price
            yield from ((Rates, rates) for rates in price.get("tiers", {}).values())
            yield from ((LongPrompt, price["long"]) for _ in price.keys() & {"long"})
    for families in TABLES["families"].values():
        yield from ((Family, family) for family in families.values())


def test_every_key_of_an_entry_is_a_field() -> None:
    found = list(entries())
    assert {kind for kind, _ in found} == {Service, PriceList, Price, Rates, LongPrompt, Family}
    assert [key for kind, entry in found for key in entry.keys() - {field.name for field in fields(kind)}] == []

"""The lists of prices: every model that the families name has a price, with its source and its date."""

from __future__ import annotations

from datetime import date

import pytest
import yaml

from benchmarks import prices as renewal
from quorum.agents.llm.prices import (
    BATCH,
    FLEX,
    PRIORITY,
    SEPARATOR,
    LongPrompt,
    Price,
    days_old,
    find_price,
    price_lists,
    service_at,
    services_of,
)
from quorum.agents.llm.protocol import Usage

DAY = date(2026, 11, 26)


def test_every_model_of_a_family_has_a_price_or_a_reason() -> None:
    known = list(renewal.families())
    assert len(known) > 50
    assert [
        model
        for provider, model in known
        if find_price(provider, model) is None and model not in price_lists()[provider].unpriced
    ] == []


def test_a_model_without_a_price_says_why_and_stays_unknown() -> None:
    for provider, known in price_lists().items():
        for model, why in known.unpriced.items():
            assert why
            assert find_price(provider, model) is None


def test_every_list_has_a_source_and_a_date() -> None:
    assert {"openai", "anthropic", "gemini", "deepseek", "xai", "groq", "mistral", "together_ai"} <= set(price_lists())
    for known in price_lists().values():
        assert known.source
        assert known.models
        assert days_old(known.date, DAY) >= 0
    assert days_old("2026-11-20", DAY) == 6


def test_no_price_is_zero() -> None:
    for provider, known in price_lists().items():
        for model in known.models:
            price = find_price(provider, model)
            assert price is not None
            assert min(price.input, price.cached, price.cache_write) > 0  # embeddings write nothing


@pytest.mark.parametrize(
    ("address", "model"),
    [
        ("https://generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-flash"),
        ("https://api.deepseek.com", "deepseek-v4-pro"),
        ("https://api.x.ai/v1", "grok-4.7"),
        ("https://api.groq.com/openai/v1", "openai/gpt-oss-120b"),
        ("https://api.mistral.ai/v1", "mistral-large-latest"),
        ("https://api.together.ai/v1", "moonshotai/Kimi-K3"),
    ],
)
def test_services_find_their_list_and_litellm_finds_it_by_the_prefix(address: str, model: str) -> None:
    service = service_at(address)
    assert service is not None
    price = find_price(service.prices, model)
    assert price is not None
    assert find_price("litellm", f"{service.prices}/{model}") == price
    assert service.name in services_of(model)


def test_a_long_prompt_costs_more_for_all_of_its_tokens() -> None:
    price = Price(2.0, 10.0, 0.2, 2.5, source="test", date="2026-11-26", long=LongPrompt(200_000, 2.0, 1.5))
    short, long = Usage(200_000, 1000), Usage(200_001, 1000, cached=100_001)
    assert price.usd(short) == pytest.approx(0.4 + 0.01)
    assert price.usd(long) == pytest.approx(2 * (0.2 + 0.0200002) + 1.5 * 0.01)
    assert price.usd(Usage(200_001, 1000), calls=2) == pytest.approx(0.400002 + 0.01)
    haiku = find_price("anthropic", "claude-haiku-5-5")
    assert haiku is not None
    assert haiku.long == LongPrompt(100_000, 5.0, 5.0)
    half = haiku.of_tier(BATCH)
    assert half is not None
    assert half.usd(Usage(100_001, 0)) == pytest.approx(haiku.usd(Usage(100_001, 0)) / 2)


ENTRY = {
    "litellm_provider": "openai",
    "mode": "chat",
    "input_cost_per_token": 2e-6,
    "output_cost_per_token": 10e-6,
    "input_cost_per_token_flex": 1e-6,
    "output_cost_per_token_flex": 5e-6,
    "cache_read_input_token_cost_flex": 1e-7,
    "input_cost_per_token_priority": 4e-6,
    "input_cost_per_token_above_272k_tokens": 4e-6,
    "output_cost_per_token_above_272k_tokens": 15e-6,
}


def test_a_list_is_renewed_from_the_entries_of_litellm_s_map() -> None:
    entries = {
        "gpt-9": ENTRY,
        "gpt-9-2026-11-01": ENTRY,
        "gpt-9-2026-10-01": {**ENTRY, "output_cost_per_token": 20e-6},
        "gpt-9-audio-preview": ENTRY,
        "free": {**ENTRY, "input_cost_per_token": 0.0},
        "pictures": {**ENTRY, "mode": "image_generation"},
        "other/gpt-9": {**ENTRY, "litellm_provider": "other"},
    }
    known = renewal.price_lists(entries, "1.2.3", DAY)["openai"]
    assert list(known["models"]) == ["gpt-9", "gpt-9-2026-10-01"]
    assert (known["source"], known["date"]) == (
        "developers.openai.com/api/docs/pricing, as in the price map of litellm 1.2.3",
        "2026-11-26",
    )
    price = known["models"]["gpt-9"]
    assert (price["input"], price["output"], price["cached"], price["cache_write"]) == (2.0, 10.0, 2.0, 2.0)
    assert price["tiers"] == {FLEX: {"input": 1.0, "output": 5.0, "cached": 0.1, "cache_write": 1.0}}
    assert PRIORITY not in price["tiers"]
    assert price["long"] == {"above": 272_000, "input": 2.0, "output": 1.5}


def test_a_surcharge_without_a_form_is_an_error() -> None:
    with pytest.raises(ValueError, match="272k"):
        renewal.price_of(
            {**ENTRY, "cache_read_input_token_cost": 1e-7, "cache_read_input_token_cost_above_272k_tokens": 5e-7}
        )


def test_the_text_of_the_file_holds_what_the_lists_do() -> None:
    lists = renewal.price_lists({"gpt-9": ENTRY, "claude-9": {**ENTRY, "litellm_provider": "anthropic"}}, "1.2.3", DAY)
    assert list(lists) == ["anthropic", "openai"]
    assert yaml.safe_load(renewal.text_of(lists)) == lists


def test_models_with_the_same_price_share_a_line_that_is_not_too_long() -> None:
    names = [f"gpt-9-preview-{number:02}" for number in range(20)]
    lists = renewal.price_lists(dict.fromkeys(names, ENTRY) | {"gpt-9": {**ENTRY, "mode": "embedding"}}, "1.2.3", DAY)
    models = yaml.safe_load(renewal.text_of(lists))["openai"]["models"]
    assert {name: price for key, price in models.items() for name in key.split(SEPARATOR)} == lists["openai"]["models"]
    assert 2 < len(models) < len(names)
    assert max(map(len, models)) <= 120


def test_a_model_of_a_family_without_a_price_is_missing() -> None:
    lists = renewal.price_lists({"gpt-9": ENTRY, "claude-9": {**ENTRY, "litellm_provider": "anthropic"}}, "1.2.3", DAY)
    assert {"gemini", "openai o3-mini"} <= set(renewal.missing(lists))


def test_names_of_a_pattern() -> None:
    assert set(renewal.names_of(r"gpt-5\.[24](-mini|-nano)?|o1")) == {
        *(f"gpt-5.{minor}{size}" for minor in "24" for size in ("", "-mini", "-nano")),
        "o1",
    }
    assert renewal.names_of("gemini-.*") == []

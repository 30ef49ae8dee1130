"""Which price a model has: the user's, else what its answers say, else that of the provider's own table."""

from __future__ import annotations

import pytest

from quorum.agents.llm.prices import price_table
from quorum.configuration.cell import Cell
from quorum.configuration.providers.config import ProviderConfig
from quorum_base.user_errors import UserError

LOCAL = ("llm=vllm", "llm.model=gpt-5-mini")


def model(*words: str, participant: str = "agent_0") -> ProviderConfig:
    found = Cell.compose(["agents=naive", "n=2", *words]).configuration.llm_of(participant)
    assert isinstance(found, ProviderConfig)
    return found


def test_the_table_is_for_the_provider_s_own_address_alone() -> None:
    assert model("llm=openai", "llm.model=gpt-5-mini-2025-08-07").price == price_table()["openai", "gpt-5-mini"]
    assert model("llm=anthropic", "llm.model=claude-haiku-4-5").price == price_table()["anthropic", "claude-haiku-4-5"]
    assert model(*LOCAL).price is None


def test_given_prices_go_before_the_table_and_are_for_every_address() -> None:
    for words in (LOCAL, ("llm=openai", "llm.model=gpt-5-mini")):
        price = model(*words, "llm.prices={input: 1.0, output: 3}").price
        assert price is not None
        assert (price.input, price.output, price.cached, price.cache_write, price.given) == (1.0, 3.0, 1.0, 1.0, True)
    whole = model(*LOCAL, "llm.prices={input: 1, output: 3, cached: 0.1, cache_write: 1.25}").price
    assert whole is not None
    assert (whole.cached, whole.cache_write) == (0.1, 1.25)


def test_an_agent_with_another_model_does_not_have_the_prices_of_the_others() -> None:
    words = (*LOCAL, "llm.prices={input: 1, output: 3}", "llm.agents.agent_1.model=small")
    assert model(*words).price is not None
    assert model(*words, participant="agent_1").price is None
    own = model(*words, "llm.agents.agent_1.prices={input: 0, output: 0}", participant="agent_1").price
    assert own is not None
    assert own.input == 0.0
    cooler = model(
        *LOCAL, "llm.prices={input: 1, output: 3}", "llm.agents.agent_1.temperature=1", participant="agent_1"
    )
    assert cooler.price is not None


def test_answers_of_openrouter_say_what_they_cost() -> None:
    assert model(*LOCAL, "llm.base_url=https://openrouter.ai/api/v1").priced
    assert not model(*LOCAL, "llm.base_url=https://notopenrouter.ai/api/v1").priced
    assert not model(*LOCAL).priced


def test_prices_name_a_cell_only_where_a_budget_of_money_rests_on_them() -> None:
    def name(*words: str) -> str:
        return Cell.compose(["agents=naive", *LOCAL, *words]).hash

    cheap, dear = "llm.prices={input: 1, output: 1}", "llm.prices={input: 9, output: 9}"
    assert name() == name(cheap) == name(dear)
    assert len({name("budget.usd=1", words) for words in (cheap, dear)}) == 2


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        ("llm.prices={input: 1}", "llm.prices.output"),
        ("llm.prices={input: -1, output: 1}", "llm.prices.input: -1 is not allowed"),
        ("llm.prices={input: 1, output: 1, outputs: 1}", "llm.prices.outputs"),
        ("llm.prices=3", "llm.prices"),
    ],
)
def test_prices_that_are_none_are_a_user_s_mistake(words: str, reported: str) -> None:
    with pytest.raises(UserError) as caught:
        model(*LOCAL, words)
    assert reported in str(caught.value)


def test_a_tier_names_a_cell_only_where_a_budget_of_money_rests_on_it() -> None:
    words = ("agents=naive", "llm=openai", "llm.model=gpt-5")
    usual, flex = Cell.compose([*words]), Cell.compose([*words, "llm.service_tier=flex"])
    assert usual.hash == flex.hash
    bounded = [Cell.compose([*words, "budget.usd=1", tier]) for tier in ("seed=0", "llm.service_tier=flex")]
    assert bounded[0].hash != bounded[1].hash


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (
            ("llm=openai", "llm.service_tier=cheap"),
            "llm.service_tier: 'cheap' is not allowed: OpenAI's tiers are auto, default",
        ),
        (("llm=anthropic", "llm.service_tier=flex"), "llm.service_tier"),
        (("llm=vllm", "llm.service_tier='not one'"), "llm.service_tier"),
    ],
)
def test_a_tier_that_the_provider_does_not_have_is_a_user_s_mistake(words: tuple[str, ...], reported: str) -> None:
    with pytest.raises(UserError) as caught:
        model(*words, "llm.model=NAME")
    assert reported in str(caught.value)


def test_an_agent_with_another_provider_does_not_have_the_tier_of_the_others() -> None:
    other = "llm.agents.agent_1={name: anthropic, model: NAME, base_url: 'https://api.anthropic.com', api_key_env: KEY}"
    own = model("llm=openai", "llm.model=gpt-5", "llm.service_tier=flex", other, participant="agent_1")
    assert getattr(own, "service_tier", "") is None


def test_what_litellm_alone_knows_is_priced_by_its_answers() -> None:
    own = model("llm=litellm", "llm.model=bedrock/some-model")
    assert (own.price, own.priced) == (None, True)
    listed = model("llm=litellm", "llm.model=gemini/gemini-2.5-flash")
    assert listed.price == price_table()["gemini", "gemini-2.5-flash"]

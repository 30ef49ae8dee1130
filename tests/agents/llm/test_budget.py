"""Rules of budgets and prices."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from quorum.agents.llm.cache import Cache, Cached
from quorum.agents.llm.errors import BudgetReached, ServerFailed, UnknownPrice
from quorum.agents.llm.prices import Price, find_price, price_table
from quorum.agents.llm.protocol import Usage
from quorum.agents.llm.spending import Budget, Budgeted, Spending
from tests.agents.llm.wire import Brain, request, stack

PRICE = Price(input=1000.0, output=0.0, cached=0.0, cache_write=0.0, source="test", date="2026-11-21")


@pytest.mark.parametrize(
    ("budget", "kind", "used"),
    [
        (Budget(calls=2), "calls", 2),
        (Budget(tokens=300), "tokens", 240),
        (Budget(tokens=240), "tokens", 240),
        (Budget(usd=1.0), "usd", 0.8),
        (Budget(usd=0.8), "usd", 0.8),
    ],
    ids=str,
)
async def test_the_call_that_would_go_beyond_is_not_made(budget: Budget, kind: str, used: float) -> None:
    brain = Brain(usd=0.4)  # and 120 tokens a call
    model = Budgeted(brain, Spending(budget))
    for _ in range(2):
        await model.complete(request())
    with pytest.raises(BudgetReached) as caught:
        await model.complete(request())
    assert len(brain.asked) == 2
    assert (caught.value.kind, caught.value.value) == (kind, pytest.approx(used))


async def test_a_budget_of_nothing_allows_nothing() -> None:
    for budget in (Budget(usd=0.0), Budget(tokens=0), Budget(calls=0)):
        with pytest.raises(BudgetReached):
            await Budgeted(Brain(usd=0.1), Spending(budget)).complete(request())


async def test_the_first_call_is_measured_by_its_prompt() -> None:
    brain = Brain(usd=1.0)
    with pytest.raises(BudgetReached, match="tokens"):
        await Budgeted(brain, Spending(Budget(tokens=100))).complete(request("x" * 4000))
    with pytest.raises(BudgetReached, match="usd"):
        await Budgeted(brain, Spending(Budget(usd=0.5)), PRICE).complete(request("x" * 4000))
    assert brain.asked == []


async def test_calls_under_way_are_counted() -> None:
    brain = Brain(usd=0.4)
    model = Budgeted(brain, Spending(Budget(tokens=600, usd=10.0)))
    await model.complete(request())
    answers = await asyncio.gather(*(model.complete(request()) for _ in range(20)), return_exceptions=True)
    assert sum(isinstance(answer, BudgetReached) for answer in answers) == 16


async def test_all_models_of_an_episode_spend_from_one_budget() -> None:
    spending = Spending(Budget(calls=3))
    first, second = Budgeted(Brain(), spending), Budgeted(Brain(), spending)
    await first.complete(request())
    await second.complete(request())
    await first.complete(request())
    with pytest.raises(BudgetReached):
        await second.complete(request())


async def test_a_call_that_failed_leaves_nothing_reserved() -> None:
    spending = Spending(Budget(tokens=130))
    model = Budgeted(Brain([ServerFailed("")]), spending)
    for _ in range(20):
        with pytest.raises(ServerFailed):
            await model.complete(request())
    assert spending.tokens == 0


async def test_repairs_spend_from_the_budget() -> None:
    brain = Brain(["no", "no", "no"])
    with pytest.raises(BudgetReached):
        await stack(brain, spending=Spending(Budget(calls=2))).complete(request())
    assert len(brain.asked) == 2


async def test_money_without_a_price_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(UnknownPrice, match="simulated"):
        stack(Brain(), spending=Spending(Budget(usd=1.0)))
    stack(Brain(), spending=Spending(Budget(usd=1.0)), price=PRICE)
    stack(Brain(), spending=Spending(Budget(usd=1.0)), priced=True)
    stack(Brain(), spending=Spending(Budget(tokens=1)))


async def test_an_answer_without_money_is_not_taken_as_free() -> None:
    brain = Brain()
    model = stack(brain, spending=Spending(Budget(usd=1.0)), priced=True)
    await model.complete(request())  # it is paid, so it is given; and it is the last one
    with pytest.raises(UnknownPrice, match="simulated"):
        await model.complete(request())
    assert len(brain.asked) == 1


def test_prices_are_found_by_exact_name_and_unknown_is_none() -> None:
    price = find_price("openai", "gpt-5-mini")
    assert price is not None
    assert price == price_table()["openai", "gpt-5-mini"] == find_price("litellm", "openai/gpt-5-mini")
    assert price.usd(Usage(prompt=1_000_000, completion=1_000_000, cached=500_000)) == pytest.approx(2.1375)
    assert price.source
    assert price.date
    assert find_price("openai", "gpt-5-mini-of-somebody") is None
    assert find_price("anthropic", "gpt-5-mini") is None


def test_a_snapshot_has_the_price_of_its_model_unless_it_has_its_own() -> None:
    for provider, snapshot, model in (
        ("openai", "gpt-5-mini-2025-08-07", "gpt-5-mini"),
        ("openai", "gpt-4o-2024-08-06", "gpt-4o"),
        ("anthropic", "claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("litellm", "openai/gpt-5-mini-2025-08-07", "gpt-5-mini"),
    ):
        found = find_price(provider, snapshot)
        same = find_price("openai" if provider == "litellm" else provider, model)
        assert found is not None
        assert same is not None
        assert found == same
    old = find_price("openai", "gpt-4o-2024-05-13")
    assert old is not None
    assert (old.input, old.output) == (5.0, 15.0)
    assert find_price("openai", "gpt-5-mini-2025") is None
    assert find_price("openai", "no-such-model-2025-08-07") is None


async def test_an_answer_of_the_cache_has_the_price_that_is_known_now(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "replies.sqlite")
    caching = partial(Cached, cache=cache, identity={}, sampled=True)
    assert (await stack(Brain(), caching=caching).complete(request())).usd is None
    again = await stack(Brain(), caching=caching, price=PRICE).complete(request())
    assert (again.cache_hit, again.usd) == (True, pytest.approx(0.1))
    cache.close()

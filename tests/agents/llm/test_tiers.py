"""Tiers of service: what is asked for reaches the provider, and the tier that answers has its price."""

from __future__ import annotations

from typing import Any

import pytest

from quorum.agents.llm.errors import BadRequest
from quorum.agents.llm.prices import BATCH, FLEX, PRIORITY, Price, price_table
from quorum.agents.llm.protocol import Reply, Usage
from quorum.agents.llm.records import answered, describe_reply, read_reply
from tests.agents.llm.raw import answer, completion, raw_server
from tests.agents.llm.wire import Brain, client, provider, reply, request, stack
from tests.loopback import Fault, FaultKind

TOKENS = Usage(prompt=1_000_000, completion=1_000_000, cached=500_000)


async def said_by(wire: str, body: dict[str, Any], **arguments: Any) -> tuple[Reply, dict[str, Any]]:
    """Ask a server that says one thing; return the answer, and the body that it was asked with."""
    async with raw_server(answer(body)) as (addresses, server), client(wire, addresses, **arguments) as model:
        found = await stack(model, price=price_table()["openai", "gpt-5"]).complete(request(free=True))
    return found, server.asked[0]


def message(**usage: Any) -> dict[str, Any]:
    """Give an answer in Anthropic's format."""
    return {
        "id": "x",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "Hello."}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20, **usage},
    }


async def test_the_tier_is_a_field_of_the_request_only_where_it_is_asked_for() -> None:
    _, asked = await said_by("openai", completion(), service_tier="flex")
    assert asked["service_tier"] == "flex"
    _, asked = await said_by("anthropic", message(), service_tier="standard_only")
    assert asked["service_tier"] == "standard_only"
    for wire, body in (("openai", completion()), ("anthropic", message())):
        _, asked = await said_by(wire, body)
        assert "service_tier" not in asked


async def test_an_answer_has_the_price_of_the_tier_that_gave_it_and_not_of_the_one_that_was_asked() -> None:
    usual, _ = await said_by("openai", completion(service_tier="default"), service_tier="flex")
    flex, _ = await said_by("openai", completion(service_tier="flex"))
    dear, _ = await said_by("openai", completion(service_tier="priority"), service_tier="fast")
    assert (usual.tier, flex.tier, dear.tier) == ("", FLEX, PRIORITY)
    assert usual.usd is not None
    assert flex.usd == pytest.approx(usual.usd / 2)
    assert dear.usd == pytest.approx(usual.usd * 2)
    bought, _ = await said_by("anthropic", message(service_tier="priority"))
    plain, _ = await said_by("anthropic", message(service_tier="standard"))
    assert (bought.tier, plain.tier) == (PRIORITY, "")


async def test_the_tier_stands_in_records_where_it_is_not_the_usual_one() -> None:
    flex, _ = await said_by("openai", completion(service_tier="flex"))
    assert describe_reply(flex)["tier"] == FLEX
    assert read_reply(describe_reply(flex)) == flex
    assert answered(flex).record["tier"] == FLEX
    assert "tier" not in describe_reply(reply())
    assert "tier" not in answered(reply()).record


async def test_flex_without_room_is_tried_again() -> None:
    faults = [Fault(FaultKind.NO_RESOURCES)] * 2
    async with provider("openai", Brain(), faults, service_tier="flex") as model:
        found = await stack(model).complete(request(free=True))
    assert (found.attempts, found.tier) == (3, FLEX)


@pytest.mark.parametrize("refusal", ["Invalid service_tier argument.", "Flex is not available for this model."])
async def test_a_tier_that_is_refused_is_never_left_out(refusal: str) -> None:
    said = answer({"error": {"message": refusal, "type": "invalid_request_error", "param": "service_tier"}}, status=400)
    async with (
        raw_server(said) as (addresses, server),
        client("openai", addresses, service_tier="flex") as model,
    ):
        with pytest.raises(BadRequest, match="service_tier"):
            await model.complete(request())
    assert [asked["service_tier"] for asked in server.asked] == ["flex"]


def test_prices_of_tiers_are_known_for_the_models_that_offer_them_alone() -> None:
    for (provider_name, _), price in price_table().items():
        assert price.of_tier("") is price
        if provider_name == "anthropic":
            assert price.of_tier(FLEX) is None
            assert price.of_tier(PRIORITY) is None
            half = price.of_tier(BATCH)
            assert half is None or half.input == price.input / 2
    assert price_table()["openai", "gpt-4o"].of_tier(FLEX) is None
    nano = price_table()["openai", "gpt-5-nano"].of_tier(FLEX)
    assert nano is not None
    assert nano.usd(TOKENS) == pytest.approx(0.5 * (0.5 * 0.05 + 0.5 * 0.005 + 0.4))
    mini = price_table()["openai", "gpt-4.1"].of_tier(BATCH)
    assert mini is not None
    assert mini.cached == mini.input == 1.0  # no discount for what the prompt cache holds


async def test_a_tier_whose_price_is_not_known_has_no_price() -> None:
    async with (
        raw_server(answer(message(service_tier="priority"))) as (addresses, _),
        client("anthropic", addresses) as model,
    ):
        found = await stack(model, price=price_table()["anthropic", "claude-haiku-4-5"]).complete(request(free=True))
    assert found.usd is None


def test_given_prices_are_those_of_the_tier_that_is_asked_for_and_halved_in_a_batch() -> None:
    price = Price(1.0, 2.0, 0.5, 1.0, source="llm.prices", date="", given=True)
    assert price.of_tier(FLEX) == price
    half = price.of_tier(BATCH)
    assert half is not None
    assert (half.input, half.output, half.cached, half.given) == (0.5, 1.0, 0.25, True)

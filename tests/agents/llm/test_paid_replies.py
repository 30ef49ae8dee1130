"""Tokens served are tokens booked: a reply with usage is in the books, whatever is wrong with it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest

from maeil.calls import Ledger, entered_in
from quorum.agents.llm.errors import BrokenResponse, InfrastructureFailed, RequestRefused
from quorum.agents.llm.prices import LongPrompt, Price
from quorum.agents.llm.protocol import Finish, Reply, Structured, Usage
from quorum.agents.llm.replay import Replay
from quorum.agents.llm.spending import Budget, Spending, Spent, UnderWay
from quorum.runs.finished import spent_on
from tests.agents.llm.raw import Answer, RawServer, answer, raw_server
from tests.agents.llm.wire import ANSWER, RULES, SDKS, TEXT, client, request, stack

PRICE = Price(input=1.0, output=10.0, cached=1.0, cache_write=1.0, source="test", date="2026-11-28")
EACH = Usage(100, 20)
Body = dict[str, Any]


def body(wire: str, text: Any = TEXT) -> Body:
    """Give a response of a wire, with 100 tokens read and 20 written."""
    match wire:
        case "openai":
            choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
            usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
            return {"id": "x", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}
        case "openai_responses":
            part = {"type": "output_text", "text": text, "annotations": []}
            message = {"type": "message", "role": "assistant", "content": [part]}
            usage = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}
            return {"id": "x", "model": "m", "status": "completed", "error": None, "output": [message], "usage": usage}
        case "anthropic":
            usage = {"input_tokens": 100, "output_tokens": 20}
            content = [{"type": "text", "text": text}]
            whole = {"id": "x", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
            return {**whole, "content": content, "usage": usage}
        case _:
            candidate = {"content": {"parts": [{"text": text}], "role": "model"}, "finishReason": "STOP"}
            usage = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}
            return {"candidates": [candidate], "usageMetadata": usage}


def _ended(wire: str, reason: Any) -> Body:
    """Give a response that says for another reason that it is at its end."""
    whole = body(wire)
    match wire:
        case "openai":
            whole["choices"][0]["finish_reason"] = reason
        case "openai_responses":
            whole["status"] = reason
        case "anthropic":
            whole["stop_reason"] = reason
        case _:
            whole["candidates"][0]["finishReason"] = reason
    return whole


NONE = {"openai": "choices", "openai_responses": "output", "anthropic": "content", "gemini": "candidates"}
BROKEN: dict[str, Callable[[str], Body]] = {
    "an object for a text": lambda wire: body(wire, {"plan": []}),
    "a list of numbers for a text": lambda wire: body(wire, [1]),
    "no reason of the end": lambda wire: _ended(wire, None),
    "an object for a reason": lambda wire: _ended(wire, {"why": ["so"]}),
    "an empty list": lambda wire: {**body(wire), NONE[wire]: [] if wire != "anthropic" else [3]},
    "a number for a list": lambda wire: {**body(wire), NONE[wire]: 5},
    "null for a list": lambda wire: {**body(wire), NONE[wire]: None},
}


async def _books(wire: str, said: list[Answer], **arguments: Any) -> tuple[Reply, RawServer]:
    """Ask a server that says one thing after the other, the last one for ever; check that all books are equal."""
    left = list(said)

    async def respond(_body: Body, _writer: asyncio.StreamWriter) -> Answer:
        return left.pop(0) if len(left) > 1 else left[0]

    spending, under_way, ledger, records = Spending(Budget()), UnderWay(), Ledger(), []
    async with raw_server(respond) as (addresses, server), client(wire, addresses, **arguments) as model:
        books = {"spending": spending, "under_way": under_way, "sink": records.append, "price": PRICE}
        failed: InfrastructureFailed | None = None
        reply: Reply | None = None
        with entered_in(ledger):
            try:
                reply = await stack(model, **books, max_repairs=0).complete(request())
            except InfrastructureFailed as error:
                failed = error
    [record], [call] = [orjson.loads(orjson.dumps(record)) for record in records], ledger.calls
    read = call.record["prompt_tokens"]
    tokens = read + call.record["completion_tokens"]
    assert spending.tokens == under_way.spent.tokens == spent_on(record).tokens == tokens
    assert spending.usd == under_way.spent.usd == spent_on(record).usd == call.record["usd"]
    assert spending.usd == pytest.approx((read + 10 * call.record["completion_tokens"]) / 1e6)
    if failed is not None:
        with pytest.raises(InfrastructureFailed) as again:
            await Replay(records).complete(request())
        assert vars(again.value) == vars(failed)
        reply = vars(failed)["paid"]
    assert reply is not None
    assert tokens == reply.usage.prompt + reply.usage.completion
    return reply, server


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("wire", SDKS)
async def test_a_reply_that_cannot_be_used_is_paid_and_asked_for_again(
    wire: str, broken: Callable[[str], Body]
) -> None:
    reply, server = await _books(wire, [answer(broken(wire)), answer(broken(wire)), answer(body(wire))])
    assert len(server.asked) == 3
    assert reply.value == ANSWER
    assert reply.usage == Usage(300, 60)
    assert (reply.unusable, reply.attempts) == (2, 3)


@pytest.mark.parametrize("wire", SDKS)
async def test_what_was_paid_for_a_call_that_fails_is_in_the_books(wire: str) -> None:
    paid, server = await _books(wire, [answer(BROKEN["no reason of the end"](wire))])
    assert len(server.asked) == RULES.max_tries
    assert paid.usage == Usage(100 * RULES.max_tries, 20 * RULES.max_tries)


@pytest.mark.parametrize("wire", SDKS)
async def test_what_was_paid_before_a_refusal_is_in_the_books(wire: str) -> None:
    said = iter([answer(BROKEN["an object for a text"](wire)), answer({"error": {"message": "no"}}, 401)])

    async def respond(_body: Body, _writer: asyncio.StreamWriter) -> Answer:
        return next(said)

    spending = Spending(Budget())
    async with raw_server(respond) as (addresses, _), client(wire, addresses) as model:
        with pytest.raises(RequestRefused):
            await stack(model, spending=spending).complete(request())
    assert spending.tokens == 120


async def test_what_was_paid_before_a_call_is_cancelled_is_in_the_books() -> None:
    waits = asyncio.Event()

    async def respond(_body: Body, _writer: asyncio.StreamWriter) -> Answer:
        if waits.is_set():
            await asyncio.sleep(60)
        waits.set()
        return answer(BROKEN["no reason of the end"]("openai"))

    spending, records = Spending(Budget()), []
    async with raw_server(respond) as (addresses, server), client("openai", addresses) as model:
        task = asyncio.create_task(stack(model, spending=spending, sink=records.append).complete(request()))
        while len(server.asked) < 2:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert spending.tokens == 120
    assert spent_on(records[0]) == Spent(1, 120, 0.0, 1)


async def test_a_budget_counts_replies_that_could_not_be_used() -> None:
    broken = answer(BROKEN["no reason of the end"]("openai"))
    said = [broken, answer(body("openai"))]

    async def respond(_body: Body, _writer: asyncio.StreamWriter) -> Answer:
        return said.pop(0)

    spending = Spending(Budget(tokens=300))
    async with raw_server(respond) as (addresses, _), client("openai", addresses) as model:
        built = stack(model, spending=spending)
        await built.complete(request())
        with pytest.raises(Exception, match="tokens: 240 of 300"):
            await built.complete(request("again"))


async def test_money_of_a_long_prompt_is_that_of_each_reply() -> None:
    long = replace(PRICE, long=LongPrompt(above=150, input=2.0, output=2.0))
    said = [answer(BROKEN["no reason of the end"]("openai")), answer(body("openai"))]

    async def respond(_body: Body, _writer: asyncio.StreamWriter) -> Answer:
        return said.pop(0)

    async with raw_server(respond) as (addresses, _), client("openai", addresses) as model:
        reply = await stack(model, price=long).complete(request())
    assert reply.usd == pytest.approx(2 * (100 + 200) / 1e6)


async def test_money_that_the_service_names_is_added_up_and_unknown_where_one_reply_names_none() -> None:
    costly = {**body("openai"), "choices": [], "usage": {**body("openai")["usage"], "cost": 0.25}}
    for first, usd in ((costly, 0.75), ({**costly, "usage": body("openai")["usage"]}, None)):
        said = [answer(first), answer({**body("openai"), "usage": {**body("openai")["usage"], "cost": 0.5}})]

        async def respond(_body: Body, _writer: asyncio.StreamWriter, said: list[Answer] = said) -> Answer:
            return said.pop(0)

        async with raw_server(respond) as (addresses, _), client("openai", addresses) as model:
            assert (await stack(model).complete(request())).usd == usd


FIELDS = {
    "openai": ("usage", "prompt_tokens"),
    "openai_responses": ("usage", "input_tokens"),
    "anthropic": ("usage", "input_tokens"),
    "gemini": ("usageMetadata", "promptTokenCount"),
}


@pytest.mark.parametrize("wire", SDKS)
@pytest.mark.parametrize("number", ["1" + "0" * 25, "9" * 5000, "1e25"], ids=["10^25", "5,000 digits", "1e25"])
async def test_a_usage_that_cannot_be_true_is_a_broken_response(wire: str, number: str) -> None:
    part, name = FIELDS[wire]
    whole = body(wire)
    absurd = json.dumps({**whole, part: {**whole[part], name: "HERE"}}).replace('"HERE"', number).encode()
    said: Answer = (200, {"content-type": "application/json"}, absurd)
    async with raw_server(said) as (addresses, _), client(wire, addresses) as model:
        with pytest.raises(BrokenResponse):
            await model.complete(request())
    reply, server = await _books(wire, [said, answer(whole)])
    assert (reply.value, len(server.asked)) == (ANSWER, 2)
    assert reply.usage.estimated
    assert reply.usage.prompt < 1000


@pytest.mark.parametrize("wire", SDKS)
@pytest.mark.parametrize("number", ["-5", "2.5", '"many"', "null", "true", "NaN", "Infinity", "[1]", '{"a": 1}'])
async def test_what_is_no_count_of_tokens_is_estimated_or_asked_for_again(wire: str, number: str) -> None:
    part, name = FIELDS[wire]
    whole = body(wire)
    odd = json.dumps({**whole, part: {**whole[part], name: "HERE"}}).replace('"HERE"', number).encode()
    reply, _ = await _books(wire, [(200, {"content-type": "application/json"}, odd), answer(whole)])
    assert reply.value == ANSWER
    assert 0 < reply.usage.prompt < 1000


DEEP = [b"[" * 200_000, b'{"a":' * 200_000, b'{"choices":' + b"[" * 200_000 + b"]" * 200_000 + b"}"]


@pytest.mark.parametrize("deep", DEEP, ids=["lists", "objects", "closed"])
@pytest.mark.parametrize("wire", SDKS)
async def test_a_body_without_a_bottom_is_a_broken_response_and_asked_for_again(wire: str, deep: bytes) -> None:
    said: Answer = (200, {"content-type": "application/json"}, deep)
    async with raw_server(said) as (addresses, _), client(wire, addresses) as model:
        with pytest.raises(BrokenResponse):
            await model.complete(request())
    reply, server = await _books(wire, [said, answer(body(wire))])
    assert (reply.value, len(server.asked)) == (ANSWER, 2)


TEXTS = ["[" * 200_000, '{"plan":' * 200_000, TEXT.replace("3", "9" * 5000), TEXT.replace("3", "1e999"), "\ud800", "\0"]


@pytest.mark.parametrize("text", TEXTS, ids=["lists", "objects", "digits", "1e999", "surrogate", "NUL"])
@pytest.mark.parametrize("wire", SDKS)
async def test_a_text_that_breaks_parsers_is_a_wrong_answer_and_paid(wire: str, text: str) -> None:
    said = [answer(body(wire, text)), answer(body(wire))]

    async def respond(_body: Body, _writer: asyncio.StreamWriter) -> Answer:
        return said.pop(0)

    records: list[Any] = []
    async with raw_server(respond) as (addresses, _), client(wire, addresses) as model:
        reply = await stack(model, sink=lambda record: records.append(orjson.dumps(record))).complete(request())
    # Google's SDK parses the text by itself, and fails where it has no bottom: then the reply is broken, and paid, too.
    assert (reply.value, reply.repairs + reply.unusable, reply.usage) == (ANSWER, 1, Usage(200, 40))


CUT = {"openai": "length", "anthropic": "max_tokens", "gemini": "MAX_TOKENS"}


@pytest.mark.parametrize("text", [TEXT, TEXT + " \n" * 50], ids=["exactly full", "blanks"])
@pytest.mark.parametrize("wire", SDKS)
async def test_a_whole_answer_at_the_bound_is_taken_by_every_wire(wire: str, text: str) -> None:
    whole = body(wire, text)
    if wire == "openai_responses":
        whole |= {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    else:
        whole = _ended(wire, CUT[wire]) | ({"choices": whole["choices"]} if wire == "openai" else {})
        if wire == "openai":
            whole["choices"][0]["finish_reason"] = CUT[wire]
    reply, server = await _books(wire, [answer(whole)])
    assert (reply.value, reply.finish, len(server.asked)) == (ANSWER, Finish.LENGTH, 1)


async def test_whole_arguments_of_a_call_at_the_bound_are_taken_if_they_are_the_models_own_text() -> None:
    def called(arguments: Any) -> Answer:
        call = {"id": "1", "type": "function", "function": {"name": "decision", "arguments": arguments}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "finish_reason": "length", "message": message}
        return answer({**body("openai"), "choices": [choice]})

    reply, _ = await _books("openai", [called(TEXT)], structured=Structured.TOOLS)
    assert reply.value == ANSWER
    async with raw_server(called(ANSWER)) as (addresses, _), client("openai", addresses) as model:
        with pytest.raises(Exception, match="cut off"):  # the server has read what there was of them
            await stack(model, max_repairs=0).complete(request())

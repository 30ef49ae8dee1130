"""A conclusion about a service follows two refusals of the same request, and each answer says how it was asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from quorum.agents.llm.errors import BadRequest, InfrastructureFailed, LanguageModelError
from quorum.agents.llm.protocol import Reply, Request, Structured, ThinkingEffort
from quorum.agents.llm.records import answered, describe_reply, read_reply
from tests.agents.llm.raw import Answer, RawServer, answer, completion, raw_server
from tests.agents.llm.wire import ANSWER, SDKS, TEXT, Brain, client, provider, request, stack
from tests.loopback import Fault, FaultKind

PASSED_ON = "Provider returned error"
RAW = {"error": {"message": PASSED_ON, "metadata": {"raw": '{"error": "reasoning and structured output failed"}'}}}
REFUSED: list[tuple[int, Any]] = [
    (400, {"error": {"message": PASSED_ON, "code": 400}}),
    (404, {"error": {"message": PASSED_ON, "code": 404}}),
    (400, RAW),
    (404, RAW),
    (400, {"error": {"message": "Invalid argument"}}),
    (422, {"detail": "Unprocessable"}),
    (400, {"error": {"message": "Unsupported parameter: 'temperature' is not supported with this model."}}),
    (400, {"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model."}}),
    (500, {"error": {"message": "the structured output engine crashed"}}),
    (500, {"error": {"message": "failed to parse grammar"}}),
]


def asked(**sampling: Any) -> Request:
    """Give a request that has all that a service may refuse."""
    whole = request(temperature=0.5)
    return replace(whole, sampling=replace(whole.sampling, effort=ThinkingEffort.LOW, seed=3, **sampling))


async def _asks(
    refuse: Callable[[int, dict[str, Any]], tuple[int, Any] | None], requests: int, **arguments: Any
) -> tuple[list[Reply], RawServer]:
    """Ask a server that refuses by the number of a request and its body."""
    server: RawServer

    async def respond(body: dict[str, Any], _writer: asyncio.StreamWriter) -> Answer:
        refused = refuse(len(server.asked), body)
        if refused is not None:
            return answer(refused[1], refused[0])
        if "tools" in body:
            call = {"id": "1", "type": "function", "function": {"name": "decision", "arguments": TEXT}}
            return answer(completion(message={"role": "assistant", "content": None, "tool_calls": [call]}))
        return answer(completion(message={"role": "assistant", "content": TEXT}))

    async with raw_server(respond) as (addresses, server), client("openai", addresses, **arguments) as model:
        return [await stack(model).complete(asked()) for _ in range(requests)], server


def _whole(body: dict[str, Any]) -> bool:
    return {"response_format", "temperature", "reasoning_effort", "max_tokens", "seed"} <= body.keys()


@pytest.mark.parametrize("place", [1, 2], ids=["first", "among good ones"])
@pytest.mark.parametrize("refused", REFUSED, ids=range(len(REFUSED)))
async def test_one_refusal_changes_no_request(refused: tuple[int, Any], place: int) -> None:
    replies, server = await _asks(lambda number, _: refused if number == place else None, 3)
    assert all(map(_whole, server.asked))
    assert len(server.asked) == 4
    assert {(reply.form, reply.reduced, reply.not_sent) for reply in replies} == {("schema", (), ())}
    assert "asked_otherwise" not in answered(replies[0]).record


async def test_what_the_service_has_taken_before_is_left_out_for_one_answer_at_most() -> None:
    hiccups = {3, 4}
    refused = (400, {"error": {"message": "Invalid argument"}})
    replies, server = await _asks(lambda number, _: refused if number in hiccups else None, 4)
    assert [_whole(body) for body in server.asked] == [True] * 4 + [False, True]
    assert [reply.reduced for reply in replies] == [(), (), ("effort",), ()]
    assert answered(replies[2]).record["asked_otherwise"] == ["effort"]


async def test_what_is_refused_with_every_other_field_left_out_is_concluded_of_nothing() -> None:
    with pytest.raises(InfrastructureFailed):
        await _asks(lambda *_: (500, {"error": {"message": "the structured tool template crashed"}}), 1)
    with pytest.raises(BadRequest, match=PASSED_ON):
        await _asks(lambda *_: REFUSED[1], 1)


async def test_the_form_of_each_answer_is_recorded_and_read_again() -> None:
    refuse = lambda _, body: (422, {"detail": "response_format: extra"}) if "response_format" in body else None  # noqa: E731
    replies, _ = await _asks(refuse, 2)
    assert [(reply.form, reply.reduced, reply.value) for reply in replies] == [("tools", ("schema",), ANSWER)] * 2
    record = describe_reply(replies[0])
    assert (record["form"], record["reduced"]) == ("tools", ["schema"])
    assert read_reply(record).reduced == ("schema",)
    assert answered(replies[1]).record["asked_otherwise"] == ["schema"]


async def test_another_name_of_the_longest_answer_is_recorded_and_is_no_other_question() -> None:
    said = (400, {"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model."}})
    replies, server = await _asks(lambda _, body: said if "max_tokens" in body else None, 2)
    assert ["max_tokens" in body for body in server.asked] == [True, True, False, False]
    assert [reply.reduced for reply in replies] == [("max_tokens",)] * 2
    assert "asked_otherwise" not in answered(replies[0]).record


@pytest.mark.parametrize("wire", SDKS)
async def test_one_refusal_of_a_schema_is_asked_again_by_every_wire(wire: str) -> None:
    async with provider(wire, Brain(), faults=[Fault(FaultKind.NO_SCHEMA)]) as model:
        replies = [await stack(model).complete(request()) for _ in range(2)]
    assert [(reply.form, reply.reduced, reply.attempts) for reply in replies] == [("schema", (), 2), ("schema", (), 1)]


async def test_a_form_that_was_chosen_is_the_usual_one() -> None:
    replies, _ = await _asks(lambda *_: None, 1, structured=Structured.PROMPT)
    assert (replies[0].form, replies[0].reduced) == ("prompt", ())


async def test_a_refusal_by_free_text_that_a_gateway_passes_on_is_asked_again() -> None:
    said = iter([answer(*reversed(REFUSED[1]))])

    async def respond(_body: dict[str, Any], _writer: asyncio.StreamWriter) -> Answer:
        return next(said, answer(completion()))

    async with raw_server(respond) as (addresses, server), client("openai", addresses) as model:
        assert (await model.complete(request(free=True))).text == "Hello."
    assert len(server.asked) == 2


async def test_a_rate_limit_among_refusals_is_waited_for() -> None:
    said = {1: REFUSED[4], 2: (429, {"error": {"message": "slow down"}})}
    replies, server = await _asks(lambda number, _: said.get(number), 1)
    assert all(map(_whole, server.asked))
    assert not isinstance(replies[0], LanguageModelError)

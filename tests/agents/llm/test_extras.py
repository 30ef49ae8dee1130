"""What a request holds as well as the fields that all providers share, over real HTTP: its exact body and headers."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from quorum.agents.llm.errors import BadRequest
from quorum.agents.llm.protocol import Reply, Request, Sampling
from quorum.agents.llm.records import describe_request, read_sampling, request_key
from quorum.configuration.cell import Cell
from quorum.configuration.providers.config import ProviderConfig
from quorum.episode.models import sampling_of
from tests.agents.llm.raw import RawServer, answer, completion, raw_server
from tests.agents.llm.wire import NEEDS_LITELLM, client, request

DRAWN = Sampling(0.5, 64, 7, top_p=0.9, stop=("END", "\n\n"), extra_body={"top_k": 40, "provider": {"order": ["x"]}})
MESSAGE = {
    "id": "x",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "Hello."}],
    "stop_reason": "stop_sequence",
    "usage": {"input_tokens": 10, "output_tokens": 2},
}
HEADERS = {"X-Title": "Quorum", "anthropic-beta": "a-2026-01-01"}


def _drawn(**changes: Any) -> Request:
    return replace(request(free=True), sampling=replace(DRAWN, **changes))


async def _asked(wire: str, respond: Any, asked: Request, **arguments: Any) -> tuple[Reply, RawServer]:
    async with (
        raw_server(respond) as (addresses, server),
        client(wire, addresses, **arguments) as model,
    ):
        return await model.complete(asked), server


async def test_openai_gets_all_of_it_and_the_extra_fields_at_the_top() -> None:
    reply, server = await _asked("openai", answer(completion()), _drawn(), headers=HEADERS)
    (body,) = server.asked
    assert {name: body[name] for name in body.keys() - {"messages", "model"}} == {
        "temperature": 0.5,
        "max_tokens": 64,
        "seed": 7,
        "top_p": 0.9,
        "stop": ["END", "\n\n"],
        "top_k": 40,
        "provider": {"order": ["x"]},
    }
    assert server.headers[0]["x-title"] == "Quorum"
    assert reply.not_sent == ()


async def test_anthropic_gets_stop_sequences_and_what_its_format_refuses_is_reported() -> None:
    reply, server = await _asked("anthropic", answer(MESSAGE), _drawn(), headers=HEADERS)
    (body,) = server.asked
    assert {name: body[name] for name in body.keys() - {"messages", "model", "system"}} == {
        "max_tokens": 64,
        "stop_sequences": ["END", "\n\n"],
        "top_k": 40,
        "provider": {"order": ["x"]},
    }
    assert server.headers[0]["anthropic-beta"] == "a-2026-01-01"
    assert reply.not_sent == ("temperature", "seed", "top_p")


@NEEDS_LITELLM
async def test_litellm_passes_all_of_it_on() -> None:
    _, server = await _asked("litellm-openai", answer(completion()), _drawn(), headers=HEADERS)
    (body,) = server.asked
    assert (body["top_p"], body["stop"], body["top_k"]) == (0.9, ["END", "\n\n"], 40)
    assert body["provider"] == {"order": ["x"]}
    assert server.headers[0]["x-title"] == "Quorum"


@NEEDS_LITELLM
async def test_a_field_that_litellm_keeps_for_itself_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(BadRequest, match="litellm reserves mock_response"):
        await _asked("litellm-openai", answer(completion()), _drawn(extra_body={"mock_response": "no"}))


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("top_p", "Unsupported parameter: 'top_p' is not supported with this model."),
        ("stop", "Unsupported parameter: 'stop' is not supported with this model."),
        ("top_p", "body.top_p: Extra inputs are not permitted"),
    ],
)
async def test_what_a_server_refuses_is_left_out_and_reported(field: str, said: str) -> None:
    async def respond(body: dict[str, Any], _writer: asyncio.StreamWriter) -> Any:
        return answer({"error": {"message": said}}, 400) if field in body else answer(completion())

    reply, server = await _asked("openai", respond, _drawn())
    assert reply.not_sent == (field,)
    assert [field in body for body in server.asked] == [True, True, False]
    assert server.asked[2].keys() >= {"temperature", "seed", "top_k"}


async def test_an_extra_field_that_a_server_refuses_is_reported_and_never_dropped() -> None:
    said = {"error": {"message": "Unrecognized request argument supplied: top_k"}}
    with pytest.raises(BadRequest, match="top_k"):
        await _asked("openai", answer(said, 400), _drawn())


def test_a_request_without_them_keeps_the_key_that_it_had_before_there_were_any() -> None:
    old = {"temperature": 0.0, "max_tokens": 256, "seed": None}
    assert describe_request(request())["sampling"] == old
    assert read_sampling(old) == Sampling(0.0, 256)


def test_they_are_part_of_a_requests_key_and_come_back_from_its_record() -> None:
    others = ({"top_p": 0.8}, {"stop": ("END",)}, {"extra_body": {"top_k": 41}}, {"extra_body": None})
    keys = {request_key(_drawn()), *(request_key(_drawn(**change)) for change in others)}
    assert len(keys) == 1 + len(others)
    assert read_sampling(describe_request(_drawn())["sampling"]) == DRAWN


async def test_headers_are_part_of_the_identity_of_a_cached_answer() -> None:
    async with raw_server(answer(completion())) as (addresses, _):
        plain = client("openai", addresses, key_variable=None)
        other = client("openai", addresses, key_variable=None, headers=HEADERS)
        assert "headers" not in plain.identity
        assert plain.identity != other.identity
        await plain.close()
        await other.close()


def test_the_values_of_a_configuration_are_how_answers_are_drawn() -> None:
    drawn = ["llm.top_p=0.9", "llm.stop=[END]", "llm.extra_body.top_k=40"]
    llm = Cell.compose(["agents=naive", "llm=vllm", "llm.model=a", *drawn]).configuration.llm
    assert isinstance(llm, ProviderConfig)
    capped = {"longest_text": 60, "longest_list": 3}
    assert sampling_of(llm) == Sampling(0.0, 2048, top_p=0.9, stop=("END",), extra_body={"top_k": 40}, **capped)
    plain = Cell.compose(["agents=naive", "llm=vllm", "llm.model=a"]).configuration.llm
    assert isinstance(plain, ProviderConfig)
    assert sampling_of(plain) == Sampling(0.0, 2048, **capped)

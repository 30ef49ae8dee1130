"""What servers that speak almost OpenAI's format say, and what is made of it, over real HTTP."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from quorum.agents.llm.errors import BadRequest, BrokenResponse, ContextOverflow, RequestRefused, ServerFailed
from quorum.agents.llm.prices import Price
from quorum.agents.llm.protocol import Finish, MaxTokensKey, Reply, Structured, Usage
from quorum.agents.llm.records import answered
from tests.agents.llm.raw import Answer, RawServer, answer, completion, raw_server
from tests.agents.llm.wire import ANSWER, TEXT, WIRES, Brain, client, provider, request, stack
from tests.loopback import Fault, FaultKind

DONE = {"role": "assistant", "content": TEXT}


def _said(message: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": None}}


def _forbidden(*places: str) -> list[dict[str, Any]]:
    return [{"type": "extra_forbidden", "loc": ["body", p], "msg": "Extra inputs are not permitted"} for p in places]


REFUSALS = [
    (400, _said("Failed to initialize samplers: failed to parse grammar")),
    (400, _said("Failed to initialize samplers: std::exception")),
    (500, _said("failed to parse grammar")),
    (400, _said("JSON schema conversion failed:\nUnrecognized schema: {}")),
    (422, {"detail": _forbidden("response_format")}),
    (422, {"object": "error", "message": {"detail": _forbidden("response_format")}}),
    (400, {"object": "error", "message": json.dumps(_forbidden("response_format"))}),
    (422, {"error": "Failed to deserialize the JSON body: response_format: unknown variant `json_schema`"}),
    (400, {"error": "'response_format.type' must be 'text'"}),
    (400, _said("This response_format type is unavailable now")),
    (400, _said("This model does not support structured outputs")),
    (400, _said("The provided JSON schema contains features not supported by the backend")),
    (400, {}),
    (400, _said("Invalid argument")),
    (422, {"detail": "Unprocessable"}),
]


async def _asks(refuse: Any, requests: int = 2, **arguments: Any) -> tuple[list[Reply], RawServer]:
    """Ask a server that refuses bodies by a function, with what it then answers."""

    async def respond(body: dict[str, Any], _writer: asyncio.StreamWriter) -> Answer:
        refused = refuse(body)
        if refused is not None:
            return answer(refused[1], refused[0])
        if "tools" in body:
            call = {"id": "1", "type": "function", "function": {"name": "decision", "arguments": TEXT}}
            return answer(completion(message={"role": "assistant", "content": None, "tool_calls": [call]}))
        return answer(completion(message=DONE))

    async with raw_server(respond) as (addresses, server), client("openai", addresses, **arguments) as model:
        return [await stack(model).complete(request()) for _ in range(requests)], server


@pytest.mark.parametrize("refusal", REFUSALS, ids=range(len(REFUSALS)))
async def test_whatever_words_refuse_a_schema_it_is_asked_for_by_other_means_and_not_sent_again(
    refusal: tuple[int, Any],
) -> None:
    replies, server = await _asks(lambda body: refusal if "response_format" in body else None)
    assert [reply.value for reply in replies] == [ANSWER, ANSWER]
    assert ["response_format" in body for body in server.asked] == [True, True, False, False]
    assert ["tools" in body for body in server.asked] == [False, False, True, True]
    assert [reply.form for reply in replies] == ["tools", "tools"]
    assert [reply.reduced for reply in replies] == [("schema",), ("schema",)]


async def test_a_server_that_takes_neither_schema_nor_tools_gets_the_schema_in_the_prompt() -> None:
    refused = (422, {"detail": "Unprocessable"})
    replies, server = await _asks(lambda body: refused if {"response_format", "tools"} & body.keys() else None)
    assert [reply.attempts for reply in replies] == [5, 1]
    assert len(server.asked) == 6
    assert [reply.reduced for reply in replies] == [("schema", "tools")] * 2


async def test_a_refusal_that_no_form_explains_is_reported_as_it_was_and_nothing_is_remembered() -> None:
    kinds = iter([(400, _said("Invalid argument"))] * 6)
    with pytest.raises(BadRequest, match="Invalid argument"):
        await _asks(lambda _: next(kinds, None))
    asked: list[dict[str, Any]] = []

    def once_wrong(body: dict[str, Any]) -> Any:
        asked.append(body)
        return (400, _said(f"Invalid argument {len(asked)}")) if len(asked) <= 6 else None

    async def respond(body: dict[str, Any], _writer: asyncio.StreamWriter) -> Answer:
        refused = once_wrong(body)
        return answer(refused[1], refused[0]) if refused else answer(completion(message=DONE))

    async with raw_server(respond) as (addresses, _), client("openai", addresses) as model:
        with pytest.raises(BadRequest, match="Invalid argument 1"):
            await model.complete(request())
        await model.complete(request())
    assert "response_format" in asked[6]


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (400, "This model's maximum context length is 4096 tokens", ContextOverflow),
        (400, "The prompt is too long.", ContextOverflow),
        (404, "Not Found", BadRequest),
        (402, "no credit", RequestRefused),
        (500, "Something broke", ServerFailed),
    ],
)
async def test_a_refusal_of_something_else_is_asked_once(status: int, said: str, kind: type[Exception]) -> None:
    asked: list[Any] = []
    with pytest.raises(kind):
        await _asks_once(status, said, asked)
    assert len(asked) == 1


async def _asks_once(status: int, said: str, asked: list[Any]) -> None:
    async def respond(body: dict[str, Any], _writer: asyncio.StreamWriter) -> Answer:
        asked.append(body)
        return answer(_said(said), status)

    async with raw_server(respond) as (addresses, _), client("openai", addresses) as model:
        await model.complete(request())


async def test_a_chosen_way_to_ask_for_the_form_is_not_left() -> None:
    with pytest.raises(BadRequest, match="Unprocessable"):
        await _asks(lambda _: (422, {"detail": "Unprocessable"}), structured=Structured.SCHEMA)


OLD, NEW = "max_tokens", "max_completion_tokens"
RENAMED = _said(f"Unsupported parameter: '{OLD}' is not supported with this model. Use '{NEW}' instead.")


@pytest.mark.parametrize(
    ("key", "refused", "said"),
    [(MaxTokensKey.AUTO, OLD, RENAMED), (MaxTokensKey.AUTO, OLD, {"detail": _forbidden(OLD)})],
    ids=["OpenAI", "FastAPI"],
)
async def test_the_other_name_of_the_longest_answer_is_taken_where_one_is_refused(
    key: MaxTokensKey, refused: str, said: Any
) -> None:
    _, server = await _asks(lambda body: (400, said) if refused in body else None, max_tokens_key=key)
    assert [OLD in body for body in server.asked] == [True, True, False, False]
    assert [body.get(NEW) for body in server.asked] == [None, None, 256, 256]


@pytest.mark.parametrize("key", [MaxTokensKey.MAX_TOKENS, MaxTokensKey.MAX_COMPLETION_TOKENS])
async def test_a_chosen_name_of_the_longest_answer_is_sent_and_kept(key: MaxTokensKey) -> None:
    _, server = await _asks(lambda _: None, max_tokens_key=key)
    other = ({OLD, NEW} - {key.value}).pop()
    assert all(body[key.value] == 256 and other not in body for body in server.asked)
    with pytest.raises(BadRequest, match=key.value):
        await _asks(lambda body: (400, {"detail": _forbidden(key.value)}), max_tokens_key=key)


async def test_a_server_that_takes_neither_name_is_reported_once_each() -> None:
    with pytest.raises(BadRequest, match=OLD):
        await _asks(lambda body: (422, {"detail": _forbidden(*({OLD, NEW} & body.keys()))}))


async def test_every_parameter_that_is_refused_is_left_out_in_turn() -> None:
    def refuse(body: dict[str, Any]) -> Any:
        extra = [name for name in ("response_format", "temperature", OLD) if name in body]
        return (422, {"detail": _forbidden(*extra)}) if extra else None

    replies, _ = await _asks(refuse)
    assert [reply.attempts for reply in replies] == [7, 1]
    assert [reply.reduced for reply in replies] == [(OLD, "schema", "temperature")] * 2
    assert replies[0].not_sent == ("temperature",)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": [{"type": "text", "text": "Hello"}, {"type": "text", "text": "."}]}, "Hello."),
        (
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"text": "Hello."}]},
            "Hello.",
        ),
        ({"content": [{"type": "output_text", "text": "Hello."}]}, "Hello."),
        ({"content": []}, ""),
        ({"content": None}, ""),
        ({"content": None, "refusal": "No."}, "No."),
    ],
    ids=range(6),
)
async def test_a_message_in_parts_is_their_text(message: dict[str, Any], text: str) -> None:
    said = answer(completion(message={"role": "assistant", **message}))
    async with raw_server(said) as (addresses, _), client("openai", addresses) as model:
        found = await model.complete(request(free=True))
    assert found.text == text
    assert found.finish is (Finish.REFUSAL if "refusal" in message else Finish.STOP)


@pytest.mark.parametrize("content", [[{"type": "text"}], [3], {"text": "x"}, 5, [{"type": "text", "text": 5}]])
async def test_what_is_no_message_is_a_broken_response(content: Any) -> None:
    said = answer(completion(message={"role": "assistant", "content": content}))
    async with raw_server(said) as (addresses, _), client("openai", addresses) as model:
        with pytest.raises(BrokenResponse):
            await model.complete(request(free=True))


async def test_arguments_of_a_tool_may_be_json_itself() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "decision", "arguments": ANSWER}}
    said = completion(message={"role": "assistant", "content": None, "tool_calls": [call]})
    async with raw_server(answer(said)) as (addresses, _), client("openai", addresses) as model:
        assert (await stack(model).complete(request())).value == ANSWER


PROMPT = sum(len(message.content) for message in request().messages)


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        (None, Usage(-(-PROMPT // 4), 2, 0, estimated=True)),
        ({}, Usage(-(-PROMPT // 4), 2, 0, estimated=True)),
        ({"prompt_tokens": None, "completion_tokens": None}, Usage(-(-PROMPT // 4), 2, 0, estimated=True)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, Usage(-(-PROMPT // 4), 2, 0, estimated=True)),
        ({"prompt_tokens": 50}, Usage(50, 2, 0, estimated=True)),
        ({"prompt_tokens": "50", "completion_tokens": -1}, Usage(-(-PROMPT // 4), 2, 0, estimated=True)),
        ({"prompt_tokens": 50, "completion_tokens": 7, "prompt_tokens_details": None}, Usage(50, 7)),
        (
            {"prompt_tokens": 50, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 90}},
            Usage(50, 7, 50),
        ),
    ],
    ids=range(8),
)
async def test_tokens_that_a_provider_does_not_count_are_estimated_and_marked(usage: Any, counted: Usage) -> None:
    price = Price(input=1.0, output=1.0, cached=1.0, cache_write=1.0, source="test", date="2026-11-22")
    said = answer(completion(usage=usage))
    async with raw_server(said) as (addresses, _), client("openai", addresses) as model:
        reply = await stack(model, price=price).complete(request(free=True))
    assert reply.usage == counted
    assert reply.usd == pytest.approx((counted.prompt + counted.completion) / 1e6)
    assert answered(reply).record.get("usage_estimated", False) is counted.estimated


@pytest.mark.parametrize("wire", WIRES)
async def test_an_answer_without_counts_is_an_answer_by_every_wire(wire: str) -> None:
    async with provider(wire, Brain(), faults=[Fault(FaultKind.NO_USAGE)]) as model:
        first, second = [await stack(model).complete(request()) for _ in range(2)]
    assert first.value == ANSWER
    if "litellm" not in wire:  # which counts by itself, or fails
        assert first.attempts == 1
        assert first.usage.estimated
        assert first.usage.prompt > 0
        assert first.usage.completion > 0
    assert not second.usage.estimated


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/ada/models/SmolLM2-135M.Q4_1.gguf", "SmolLM2-135M.Q4_1.gguf"),
        ("C:\\Users\\ada\\qwen3.gguf", "qwen3.gguf"),
        ("models/qwen3.gguf", "qwen3.gguf"),
        ("/data/models/Llama-4/", "Llama-4"),
        ("qwen3.gguf", "qwen3.gguf"),
        ("meta-llama/Llama-4", "meta-llama/Llama-4"),
        ("hf.co/unsloth/Qwen3-GGUF:Q4_K_M", "hf.co/unsloth/Qwen3-GGUF:Q4_K_M"),
    ],
)
async def test_a_server_that_names_its_model_by_a_path_tells_nobody_where_it_lies(path: str, name: str) -> None:
    said = answer(completion(message=DONE, model=path))
    async with raw_server(said) as (addresses, _), client("openai", addresses) as model:
        assert (await model.complete(request())).model == name

"""How models are asked to think, what room they have for it, and what their servers report of it, over real HTTP."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from quorum.agents.llm.errors import BadRequest
from quorum.agents.llm.prices import Price
from quorum.agents.llm.protocol import MaxTokensKey, Reply, Structured, ThinkingFormat, Usage
from quorum.agents.llm.protocol import ThinkingEffort as Effort
from quorum.agents.llm.providers.thinking import ROOM, find_family
from quorum.agents.llm.recording import Recording
from quorum.agents.llm.records import answered
from tests.agents.llm.raw import Answer, RawServer, answer, completion, raw_server
from tests.agents.llm.wire import TEXT, client, request, stack

DONE = {"role": "assistant", "content": TEXT}
MESSAGE = {
    "id": "x", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn", "stop_sequence": None,
    "content": [{"type": "text", "text": TEXT}], "usage": {"input_tokens": 100, "output_tokens": 20},
}  # fmt: skip
ROOM_FOR_ANSWER = 256


async def _asked(
    wire: str, wanted: dict[str, Any], refuse: Any = lambda _: None, *, requests: int = 1, **arguments: Any
) -> tuple[list[Reply], RawServer]:
    """Ask a server that refuses bodies by a function; give what it answered, and what it was asked."""

    async def respond(body: dict[str, Any], _writer: asyncio.StreamWriter) -> Answer:
        refused = refuse(body)
        if refused is not None:
            return answer({"error": {"message": refused, "type": "invalid_request_error"}}, 400)
        return answer(completion(message=DONE) if wire == "openai" else MESSAGE)

    asked = request(temperature=wanted.pop("temperature", None))
    asked = replace(asked, sampling=replace(asked.sampling, **wanted))
    async with raw_server(respond) as (addresses, server), client(wire, addresses, **arguments) as model:
        return [await model.complete(asked) for _ in range(requests)], server


NO_FIELD: dict[str, Any] = {}
ON = {"enable_thinking": True, "thinking": True}
OFF = {"enable_thinking": False, "thinking": False}
KNOBS = {
    "reasoning_effort", "thinking", "reasoning", "chat_template_kwargs", "thinking_token_budget",
    "reasoning_budget_tokens", "thinking_budget_tokens", "temperature",
}  # fmt: skip

CHAT = [
    ("gpt-6-sol", "openai", {"effort": Effort.HIGH}, {"reasoning_effort": "high"}),
    ("gpt-6-sol", "openai", {"effort": Effort.MAX, "temperature": 0.0}, {"reasoning_effort": "max"}),
    ("gpt-5.2", "openai", {"effort": Effort.NONE, "temperature": 0.0}, {"reasoning_effort": "none", "temperature": 0}),
    ("gpt-5.2", "openai", {"temperature": 0.0}, {"temperature": 0}),
    ("gpt-5-mini-2025-08-07", "openai", {"effort": Effort.MINIMAL}, {"reasoning_effort": "minimal"}),
    ("o3", "openai", {"temperature": 0.0}, NO_FIELD),
    ("gpt-4.1", "openai", {"temperature": 0.0}, {"temperature": 0}),
    ("any", "openai", {"effort": Effort.LOW, "temperature": 0.0}, {"reasoning_effort": "low", "temperature": 0}),
    ("qwen", "vllm", {"effort": Effort.LOW}, {"reasoning_effort": "low", "chat_template_kwargs": ON}),
    ("qwen", "vllm", {"effort": Effort.NONE}, {"reasoning_effort": "none", "chat_template_kwargs": OFF}),
    ("qwen", "vllm", {"thinking_tokens": 512}, {"thinking_token_budget": 512}),
    ("qwen", "sglang", {"effort": Effort.LOW}, {"reasoning_effort": "low", "chat_template_kwargs": ON}),
    ("qwen", "sglang", {"effort": Effort.NONE}, {"chat_template_kwargs": OFF}),
    ("qwen", "sglang", {"thinking_tokens": 512}, {"chat_template_kwargs": {"thinking_budget": 512}}),
    ("gpt-oss", "ollama", {"effort": Effort.HIGH}, {"reasoning_effort": "high"}),
    (
        "qwen",
        "llamacpp",
        {"effort": Effort.HIGH},
        {"chat_template_kwargs": {"enable_thinking": True, "reasoning_effort": "high"}},
    ),
    ("qwen", "llamacpp", {"effort": Effort.NONE}, {"chat_template_kwargs": {"enable_thinking": False}}),
    (
        "qwen",
        "llamacpp",
        {"thinking_tokens": 300},
        {"reasoning_budget_tokens": 300, "thinking_budget_tokens": 300},
    ),
    (
        "deepseek-flash",
        "deepseek",
        {"effort": Effort.LOW},
        {"thinking": {"type": "enabled"}, "reasoning_effort": "low"},
    ),
    (
        "deepseek-flash",
        "deepseek",
        {"effort": Effort.NONE, "temperature": 0.0},
        {"thinking": {"type": "disabled"}, "temperature": 0},
    ),
    ("x/y", "openrouter", {"effort": Effort.XHIGH}, {"reasoning": {"effort": "xhigh"}}),
    ("x/y", "openrouter", {"thinking_tokens": 2000}, {"reasoning": {"max_tokens": 2000}}),
]


@pytest.mark.parametrize(("model", "dialect", "wanted", "fields"), CHAT)
async def test_every_dialect_of_openai_is_told_to_think_in_its_own_words(
    model: str, dialect: str, wanted: dict[str, Any], fields: dict[str, Any]
) -> None:
    _, server = await _asked("openai", dict(wanted), model=model, thinking_format=ThinkingFormat(dialect))
    assert {name: value for name, value in server.asked[0].items() if name in KNOBS} == fields


LONGEST = [
    ("gpt-6-sol", {"effort": Effort.LOW}, ROOM_FOR_ANSWER + ROOM[Effort.LOW]),
    ("gpt-6-sol", {}, ROOM_FOR_ANSWER + ROOM[Effort.MEDIUM]),
    ("gpt-6-sol", {"effort": Effort.NONE}, ROOM_FOR_ANSWER),
    ("gpt-5.2", {}, ROOM_FOR_ANSWER),
    ("gpt-6-sol", {"effort": Effort.MAX, "max_tokens": 100_000}, 128_000),
    ("gpt-5-chat-latest", {"max_tokens": 20_000}, 16_384),
    ("any", {}, ROOM_FOR_ANSWER),
    ("any", {"effort": Effort.HIGH}, ROOM_FOR_ANSWER + ROOM[Effort.HIGH]),
]


@pytest.mark.parametrize(("model", "wanted", "longest"), LONGEST)
async def test_room_for_thoughts_comes_on_top_of_the_room_for_the_answer(
    model: str, wanted: dict[str, Any], longest: int
) -> None:
    _, server = await _asked("openai", dict(wanted), model=model, max_tokens_key=MaxTokensKey.MAX_TOKENS)
    assert server.asked[0]["max_tokens"] == longest


async def test_a_budget_that_is_not_sent_does_not_cut_the_room_for_thoughts() -> None:
    wanted = {"thinking_tokens": 100}
    replies, server = await _asked("openai", wanted, model="gpt-6-sol")
    assert replies[0].not_sent == ("thinking_tokens",)
    assert server.asked[0]["max_tokens"] == ROOM_FOR_ANSWER + ROOM[Effort.MEDIUM]


ANTHROPIC = [
    ("claude-sonnet-4-5", {}, NO_FIELD, 256),
    (
        "claude-haiku-4-5-20251001",
        {"thinking_tokens": 2000},
        {"thinking": {"type": "enabled", "budget_tokens": 2000}},
        2256,
    ),
    (
        "claude-opus-4-5",
        {"effort": Effort.LOW, "thinking_tokens": 1024},
        {"output_config": {"effort": "low"}, "thinking": {"type": "enabled", "budget_tokens": 1024}},
        1280,
    ),
    ("claude-opus-4-5", {"effort": Effort.MEDIUM}, {"output_config": {"effort": "medium"}}, 256 + 8192),
    (
        "claude-opus-4-6",
        {"effort": Effort.MAX},
        {"output_config": {"effort": "max"}, "thinking": {"type": "adaptive"}},
        256 + 65536,
    ),
    ("claude-opus-4-6", {}, NO_FIELD, 256),
    ("claude-opus-4-6", {"effort": Effort.NONE}, NO_FIELD, 256),
    (
        "claude-opus-4-7",
        {"effort": Effort.XHIGH},
        {"output_config": {"effort": "xhigh"}, "thinking": {"type": "adaptive", "display": "summarized"}},
        256 + 32768,
    ),
    ("claude-opus-5", {}, {"thinking": {"type": "adaptive", "display": "summarized"}}, 256 + 16384),
    ("claude-opus-5", {"effort": Effort.NONE}, {"thinking": {"type": "disabled"}}, 256),
    ("claude-sonnet-5-5", {"effort": Effort.NONE}, {"thinking": {"type": "between_tools"}}, 256),
    (
        "claude-opus-5-5",
        {"effort": Effort.LOW},
        {"output_config": {"effort": "low"}, "thinking": {"type": "adaptive", "display": "summarized"}},
        256 + 4096,
    ),
    ("claude-unheard-of", {"effort": Effort.LOW}, {"output_config": {"effort": "low"}}, 256 + 4096),
]


@pytest.mark.filterwarnings("ignore:The model 'claude-sonnet-4-5' is deprecated:DeprecationWarning")
@pytest.mark.parametrize(("model", "wanted", "fields", "longest"), ANTHROPIC)
async def test_every_family_of_anthropic_is_told_to_think_in_its_own_words(
    model: str, wanted: dict[str, Any], fields: dict[str, Any], longest: int
) -> None:
    _, server = await _asked("anthropic", dict(wanted), model=model, structured=Structured.PROMPT)
    (body,) = server.asked
    assert {name: body[name] for name in ("thinking", "output_config") if name in body} == fields
    assert body["max_tokens"] == longest


async def test_an_effort_and_a_schema_stand_in_one_output_config() -> None:
    _, server = await _asked("anthropic", {"effort": Effort.LOW}, model="claude-opus-5")
    assert server.asked[0]["output_config"].keys() == {"effort", "format"}


async def test_the_text_of_thoughts_is_not_asked_for_where_it_is_dropped() -> None:
    _, server = await _asked("anthropic", {"effort": Effort.LOW}, model="claude-opus-5", keep_thinking=False)
    assert server.asked[0]["thinking"] == {"type": "adaptive"}


async def test_a_long_answer_is_asked_for_in_one_piece() -> None:
    replies, _ = await _asked("anthropic", {"max_tokens": 60_000}, model="claude-opus-5", deadline=600.0)
    assert replies[0].text == TEXT


@pytest.mark.parametrize(
    ("wire", "model", "wanted", "choice"),
    [
        ("anthropic", "claude-opus-5", {}, {"type": "auto", "disable_parallel_tool_use": True}),
        (
            "anthropic",
            "claude-opus-5",
            {"effort": Effort.NONE},
            {"type": "tool", "name": "decision", "disable_parallel_tool_use": True},
        ),
        ("openai", "gpt-5", {}, {"type": "function", "function": {"name": "decision"}}),
    ],
)
async def test_a_tool_is_not_forced_upon_a_model_that_thinks_where_that_is_refused(
    wire: str, model: str, wanted: dict[str, Any], choice: Any
) -> None:
    _, server = await _asked(wire, dict(wanted), model=model, structured=Structured.TOOLS)
    assert server.asked[0]["tool_choice"] == choice


async def test_a_model_that_has_either_tools_or_thoughts_gets_the_schema_in_words_where_it_takes_none() -> None:
    def refuse(body: dict[str, Any]) -> str | None:
        return "response_format: this model does not support json_schema" if "response_format" in body else None

    _, server = await _asked("openai", {"effort": Effort.LOW}, refuse, model="gpt-6-luna")
    assert "response_format" in server.asked[0]
    assert not {"response_format", "tools"} & server.asked[2].keys()
    assert "JSON schema" in server.asked[2]["messages"][1]["content"]


async def test_a_server_that_refuses_a_forced_tool_is_asked_without_force_from_then_on() -> None:
    def refuse(body: dict[str, Any]) -> str | None:
        forced = body["tool_choice"].get("type") == "tool"
        return "Thinking may not be enabled when tool_choice forces tool use." if forced else None

    replies, server = await _asked("anthropic", {}, refuse, model="claude-new", structured=Structured.TOOLS, requests=2)
    assert [reply.not_sent for reply in replies] == [(), ()]
    assert [body["tool_choice"]["type"] for body in server.asked] == ["tool", "tool", "auto", "auto"]


WORDS = [
    "Unrecognized request argument supplied: reasoning_effort",
    "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
    "Unsupported value: 'reasoning_effort' does not support 'high' with this model.",
    "body.reasoning_effort: Extra inputs are not permitted",
    "Completions.create() got an unexpected keyword argument 'reasoning_effort'",
    "Unknown field: reasoning_effort",
    "Invalid value: 'high'. Supported values are: 'low'. (parameter reasoning_effort)",
    '"qwen" does not support thinking',
    "Extra inputs are not permitted",
    "Invalid argument",
]


@pytest.mark.parametrize("said", WORDS)
async def test_whatever_words_refuse_an_effort_it_is_left_out_and_recorded(said: str) -> None:
    replies, server = await _asked(
        "openai",
        {"effort": Effort.HIGH, "temperature": 0.0},
        lambda body: said if "reasoning_effort" in body else None,
        requests=2,
    )
    assert [reply.not_sent for reply in replies] == [("effort",), ("effort",)]
    assert ["reasoning_effort" in body for body in server.asked] == [True, True, False, False]
    assert all("response_format" in body and "temperature" in body for body in server.asked)


async def test_a_riddle_that_is_not_about_the_effort_is_solved_as_before_and_the_effort_stays() -> None:
    replies, server = await _asked(
        "openai",
        {"effort": Effort.HIGH},
        lambda body: "Invalid argument" if "response_format" in body else None,
        requests=2,
    )
    assert [reply.not_sent for reply in replies] == [(), ()]
    assert "reasoning_effort" in server.asked[-1]
    assert "response_format" not in server.asked[-1]


async def test_a_riddle_about_effort_and_form_is_solved_by_leaving_out_both() -> None:
    replies, server = await _asked(
        "openai",
        {"effort": Effort.HIGH},
        lambda body: "Invalid argument" if {"response_format", "reasoning_effort"} & body.keys() else None,
    )
    assert replies[0].not_sent == ("effort",)
    assert "tools" in server.asked[-1]


async def test_a_refusal_of_something_else_is_reported_although_an_effort_was_sent() -> None:
    with pytest.raises(BadRequest, match="image"):
        await _asked("openai", {"effort": Effort.HIGH}, lambda _: "image too small")


@pytest.mark.parametrize(
    ("said", "then"),
    [
        ("max_tokens is too large: 16640. This model supports at most 4096 completion tokens", 4096),
        ("max_tokens: 16640 > 8192, which is the maximum allowed number of output tokens for m", 8192),
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8192),
        ("`max_tokens` must be less than or equal to `5000`, the maximum value for `max_tokens`", 5000),
        ("This model's maximum context length is 4096 tokens", ROOM_FOR_ANSWER),
    ],
)
async def test_a_model_with_less_room_gets_what_it_has(said: str, then: int) -> None:
    _, server = await _asked(
        "openai", {"effort": Effort.HIGH}, lambda body: said if body["max_tokens"] > then else None
    )
    assert [body["max_tokens"] for body in server.asked] == [ROOM_FOR_ANSWER + ROOM[Effort.HIGH], then]


@pytest.mark.parametrize(
    ("message", "thinking", "text"),
    [
        ({"content": "Yes.", "reasoning_content": "Hm."}, "Hm.", "Yes."),
        ({"content": "Yes.", "reasoning": "Hm."}, "Hm.", "Yes."),
        ({"content": "<think>\nHm.\n</think>\n\nYes."}, "Hm.", "Yes."),
        ({"content": "<think>Hm. So"}, "Hm. So", ""),
        ({"content": 'Say "<think>no</think>".'}, "", 'Say "<think>no</think>".'),
        ({"content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Yes."}]}, "Hm.", "Yes."),
    ],
    ids=range(6),
)
async def test_thoughts_are_no_part_of_the_answer(message: dict[str, Any], thinking: str, text: str) -> None:
    said = answer(completion(message={"role": "assistant", **message}))
    async with raw_server(said) as (addresses, _):
        async with client("openai", addresses) as model:
            kept = await model.complete(request(free=True))
        async with client("openai", addresses, keep_thinking=False) as model:
            dropped = await model.complete(request(free=True))
    assert (kept.thinking, kept.text) == (thinking, text)
    assert (dropped.thinking, dropped.text) == ("", text)


def _counts(**details: Any) -> dict[str, Any]:
    return {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150, **details}


@pytest.mark.parametrize(
    ("usage", "thinking", "counted"),
    [
        (_counts(completion_tokens_details={"reasoning_tokens": 40}), "", Usage(100, 50, reasoning=40)),
        (
            _counts(completion_tokens_details={"reasoning_tokens": 40}, total_tokens=190),
            "",
            Usage(100, 90, reasoning=40),
        ),
        (_counts(completion_tokens_details={"reasoning_tokens": 0}), "Hm.", Usage(100, 50)),
        (_counts(), "Hm. " * 10, Usage(100, 50, reasoning=10, reasoning_estimated=True)),
        (_counts(), "Hm. " * 1000, Usage(100, 50, reasoning=50, reasoning_estimated=True)),
        (_counts(), "", Usage(100, 50)),
    ],
    ids=range(6),
)
async def test_tokens_of_thoughts_are_counted_apart_and_paid_once(usage: Any, thinking: str, counted: Usage) -> None:
    price = Price(input=1.0, output=2.0, cached=1.0, cache_write=1.0, source="test", date="2026-11-23")
    said = answer(completion(usage=usage, message={**DONE, "reasoning_content": thinking}))
    async with raw_server(said) as (addresses, _), client("openai", addresses) as model:
        reply = await stack(model, price=price).complete(request())
    assert reply.usage == counted
    assert reply.usd == pytest.approx((counted.prompt + 2 * counted.completion) / 1e6)
    assert answered(reply).record.get("reasoning_tokens", 0) == counted.reasoning
    assert answered(reply).record.get("reasoning_estimated", False) is counted.reasoning_estimated


@pytest.mark.parametrize(
    ("details", "counted"),
    [
        ({"thinking_tokens": 12}, Usage(100, 20, reasoning=12)),
        (None, Usage(100, 20, reasoning=1, reasoning_estimated=True)),
    ],
)
async def test_thoughts_of_anthropic_are_read_from_their_blocks(details: Any, counted: Usage) -> None:
    blocks = [{"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "text", "text": TEXT}]
    usage = {"input_tokens": 100, "output_tokens": 20, "output_tokens_details": details}
    async with (
        raw_server(answer({**MESSAGE, "content": blocks, "usage": usage})) as (addresses, _),
        client("anthropic", addresses) as model,
    ):
        reply = await model.complete(request())
    assert (reply.thinking, reply.text, reply.usage) == ("Hm.", TEXT, counted)


async def test_a_record_holds_thoughts_and_knobs_only_where_there_are_any() -> None:
    records: list[dict[str, Any]] = []
    plain = answer(completion(message=DONE))
    thought = answer(completion(message={**DONE, "reasoning_content": "Hm."}))
    for said, wanted in ((plain, {}), (thought, {"effort": Effort.LOW})):
        async with raw_server(said) as (addresses, _), client("openai", addresses) as model:
            asked = request()
            await Recording(model, records.append).complete(replace(asked, sampling=replace(asked.sampling, **wanted)))
    assert [record["request"]["sampling"].get("effort", "absent") for record in records] == ["absent", "low"]
    assert [record["reply"].get("thinking", "absent") for record in records] == ["absent", "Hm."]
    assert records[0]["reply"]["usage"] == {"prompt": 100, "completion": 20, "cached": 0}


@pytest.mark.parametrize("model", ["gpt-50", "my-gpt-5", "gpt-5-turbo", "claude-opus-5-4"])
def test_a_name_that_stands_in_no_row_is_not_known(model: str) -> None:
    assert find_family("openai", model) is None
    assert find_family("anthropic", model) is None


def test_a_model_of_litellm_is_known_by_its_prefix() -> None:
    assert find_family("litellm", "anthropic/claude-opus-5") is find_family("anthropic", "claude-opus-5") is not None

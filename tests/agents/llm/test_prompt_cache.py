"""What is said of the provider's prompt cache over real HTTP, and that it changes nothing else."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from quorum.agents.llm.prices import Price
from quorum.agents.llm.protocol import ChatMessage, ChatRole, Request, Sampling, Structured
from quorum.agents.llm.providers import openai
from quorum.agents.llm.providers.content import cut
from quorum.agents.llm.records import answered, request_key
from tests.agents.llm.raw import Answer, RawServer, answer, completion, raw_server
from tests.agents.llm.wire import TEXT, client, request, stack
from tests.loopback.prompt_caches import prompt_cache

SYSTEM, ASKED = "You are an agent.", "Words. One, two, three, four: five."
MARKS = (7, 11, 16, 23, 29)
EPHEMERAL = {"cache_control": {"type": "ephemeral"}}
EXPLICIT = {"prompt_cache_breakpoint": {"mode": "explicit"}}


def marked(marks: tuple[int, ...] = MARKS, text: str = ASKED) -> Request:
    """Give a request whose message has marks."""
    asked = request(free=False)
    messages = (ChatMessage(ChatRole.SYSTEM, SYSTEM), ChatMessage(ChatRole.USER, text, marks))
    return Request(messages, asked.answer, Sampling(None, 256), origin=asked.origin)


def message(**usage: int) -> dict[str, Any]:
    """Give a message in Anthropic's format."""
    return {
        "id": "x", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
        "stop_sequence": None, "content": [{"type": "text", "text": TEXT}],
        "usage": {"input_tokens": 100, "output_tokens": 20, **usage},
    }  # fmt: skip


DONE = {"openai": completion(message={"role": "assistant", "content": TEXT}), "anthropic": message()}


async def sent(
    wire: str, asked: Request, refuse: Any = lambda _: None, requests: int = 1, **arguments: Any
) -> RawServer:
    """Ask a server that refuses by a function; give it with what it was asked."""

    async def respond(body: dict[str, Any], _writer: asyncio.StreamWriter) -> Answer:
        refused = refuse(body)
        return answer(DONE[wire]) if refused is None else answer(refused, 400)

    async with raw_server(respond) as (addresses, server), client(wire, addresses, **arguments) as model:
        for _ in range(requests):
            assert (await model.complete(asked)).not_sent == ()
    return server


@pytest.fixture
def as_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the server on this machine for OpenAI's own."""
    monkeypatch.setattr(openai, "OFFICIAL_HOST", "127.0.0.1")


async def test_anthropic_gets_breakpoints_at_the_end_of_the_system_message_and_at_the_last_marks() -> None:
    body = (await sent("anthropic", marked())).asked[0]
    assert body["system"] == [{"type": "text", "text": SYSTEM, **EPHEMERAL}]
    assert body["messages"][0]["content"] == [
        {"type": "text", "text": ASKED[:16], **EPHEMERAL},
        {"type": "text", "text": ASKED[16:23], **EPHEMERAL},
        {"type": "text", "text": ASKED[23:29], **EPHEMERAL},
        {"type": "text", "text": ASKED[29:]},
    ]


async def test_a_message_without_marks_is_sent_as_before() -> None:
    body = (await sent("anthropic", marked(()))).asked[0]
    assert body["messages"] == [{"role": "user", "content": ASKED}]
    assert body["system"] == [{"type": "text", "text": SYSTEM, **EPHEMERAL}]


async def test_the_form_in_words_stands_before_the_breakpoint_of_the_system_message() -> None:
    (block,) = (await sent("anthropic", marked(), structured=Structured.PROMPT)).asked[0]["system"]
    assert block["text"].startswith(SYSTEM)
    assert "JSON schema" in block["text"]
    assert "cache_control" in block


@pytest.mark.usefixtures("as_openai")
async def test_openai_gets_a_key_of_what_prompts_begin_with() -> None:
    server = await sent("openai", marked(), model="gpt-5-mini")
    (body,) = server.asked
    assert len(body["prompt_cache_key"]) <= 64
    assert "prompt_cache_options" not in body
    assert [m["content"] for m in body["messages"]] == [SYSTEM, ASKED]
    (other,) = (await sent("openai", marked(text=f"{ASKED} Now?"), model="gpt-5-mini")).asked
    assert other["prompt_cache_key"] == body["prompt_cache_key"]
    another = Request(marked().messages, None, Sampling(None, 256))
    assert (await sent("openai", another, model="gpt-5-mini")).asked[0]["prompt_cache_key"] != body["prompt_cache_key"]


@pytest.mark.usefixtures("as_openai")
async def test_models_that_charge_for_what_is_kept_keep_what_is_marked_alone() -> None:
    (body,) = (await sent("openai", marked((7,)), model="gpt-6-sol")).asked
    assert body["prompt_cache_options"] == {"mode": "explicit"}
    assert "prompt_cache_key" in body
    assert [m["content"] for m in body["messages"]] == [
        [{"type": "text", "text": SYSTEM, **EXPLICIT}],
        [{"type": "text", "text": ASKED[:7], **EXPLICIT}, {"type": "text", "text": ASKED[7:]}],
    ]


@pytest.mark.parametrize("model", ["gpt-5-mini", "gpt-6-sol"])
async def test_other_servers_of_openais_format_hear_nothing_of_it(model: str) -> None:
    (body,) = (await sent("openai", marked(), model=model)).asked
    assert not [name for name in body if "cache" in name]
    assert [m["content"] for m in body["messages"]] == [SYSTEM, ASKED]


@pytest.mark.usefixtures("as_openai")
@pytest.mark.parametrize(("wire", "model"), [("anthropic", "m"), ("openai", "gpt-5-mini"), ("openai", "gpt-6-sol")])
async def test_nothing_is_said_of_it_where_the_configuration_says_so(wire: str, model: str) -> None:
    (body,) = (await sent(wire, marked(), model=model, prompt_cache=False)).asked
    assert "cache" not in str(body)


SAID = [
    {"error": {"message": "Unrecognized request argument supplied: prompt_cache_key"}},
    {"type": "error", "error": {"message": "cache_control: Extra inputs are not permitted"}},
    {"error": {"message": "Invalid argument"}},
]


@pytest.mark.usefixtures("as_openai")
@pytest.mark.parametrize("said", SAID, ids=["OpenAI", "Anthropic", "riddle"])
@pytest.mark.parametrize("wire", ["openai", "anthropic"])
async def test_a_server_that_refuses_it_is_asked_without_it_from_then_on(wire: str, said: Any) -> None:
    refuse = lambda body: said if "cache" in str(body) else None  # noqa: E731
    server = await sent(wire, marked(), refuse, requests=3, model="gpt-6-sol")
    assert ["cache" in str(body) for body in server.asked] == [True, True, False, False, False]
    structured = [("response_format" in body or "output_config" in body) for body in server.asked]
    assert structured == [True] * 5, "the form was not what it refused"


@pytest.mark.parametrize("marks", [(), (7,), MARKS, (35,), (7, 7), (6, 7, 34)])
def test_the_pieces_are_the_text_and_none_of_them_is_blank(marks: tuple[int, ...]) -> None:
    (pieces,) = cut([ChatMessage(ChatRole.USER, ASKED, marks)])
    assert "".join(text for text, _ in pieces) == ASKED
    assert all(text.strip() for text, _ in pieces)
    assert sum(follows for _, follows in pieces) <= 3


def test_marks_are_no_part_of_what_is_asked() -> None:
    assert marked() == marked(())
    assert request_key(marked()) == request_key(marked(()))


USAGES = {
    "openai": completion(
        message={"role": "assistant", "content": TEXT},
        usage={
            "prompt_tokens": 2000, "completion_tokens": 20, "total_tokens": 2020,
            "prompt_tokens_details": {"cached_tokens": 1500, "cache_write_tokens": 300},
        },
    ),
    "anthropic": message(input_tokens=200, cache_read_input_tokens=1500, cache_creation_input_tokens=300),
}  # fmt: skip


@pytest.mark.parametrize("wire", USAGES)
async def test_what_was_read_from_the_cache_and_written_to_it_is_reported_and_priced(wire: str) -> None:
    price = Price(2.0, 10.0, 0.2, 2.5, "", "")
    async with raw_server(answer(USAGES[wire])) as (addresses, _), client(wire, addresses) as model:
        reply = await stack(model, price=price).complete(marked())
    assert (reply.usage.prompt, reply.usage.cached, reply.usage.cache_written) == (2000, 1500, 300)
    assert reply.usd == pytest.approx((200 * 2 + 1500 * 0.2 + 300 * 2.5 + 20 * 10) / 1e6)
    record = answered(reply).record
    assert (record["prompt_tokens"], record["cached_tokens"], record["cache_written_tokens"]) == (2000, 1500, 300)


@pytest.mark.parametrize(
    ("model", "minimum"),
    [
        ("claude-opus-5", 512),
        ("claude-sonnet-5", 1024),
        ("claude-opus-4-20250514", 1024),
        ("claude-3-5-haiku-20241022", 2048),
        ("claude-haiku-4-5-20251001", 4096),
        ("claude-opus-4-5", 4096),
        ("claude-opus-5-5", 4096),
        ("claude-nobody-knows", 4096),
    ],
)
def test_the_minimum_is_that_of_the_model_and_the_highest_of_an_unknown_one(model: str, minimum: int) -> None:
    rules = prompt_cache("anthropic", model)
    assert rules is not None
    assert (rules.minimum, rules.step) == (minimum, None)


@pytest.mark.parametrize(
    ("model", "step"),
    [("gpt-4o", 128), ("gpt-5-mini-2025-08-07", 128), ("gpt-5.5", 128), ("gpt-5.6-sol", None), ("gpt-6-luna", None)],
)
def test_openais_models_keep_steps_of_their_own_choice_or_what_is_marked(model: str, step: int | None) -> None:
    rules = prompt_cache("openai", model)
    assert rules is not None
    assert (rules.minimum, rules.step) == (1024, step)

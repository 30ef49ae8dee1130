"""What a provider sends and what it makes of the answer, over real HTTP."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from quorum.agents.llm.errors import AuthenticationFailed, BadRequest
from quorum.agents.llm.prices import Price
from quorum.agents.llm.protocol import AnswerFormat, ChatRole, Finish, Model, Reply, Request, Structured, Usage
from quorum.agents.llm.providers.chat import is_strict
from quorum.agents.llm.providers.openai import OpenAIModel
from quorum.agents.llm.providers.wording import printable_unicode
from quorum.more_providers.litellm import INSTALL, LiteLLMModel
from tests.agents.llm.wire import (
    ANSWER,
    HAS_LITELLM,
    LITELLM_TOOLS,
    SCHEMA,
    SDKS,
    TEXT,
    THROUGH_LITELLM,
    WIRES,
    Brain,
    provider,
    request,
    stack,
)
from tests.loopback import Fault, FaultKind


async def ask(wire: str, brain: Model, temperature: float | None, **arguments: Any) -> Reply:
    async with provider(wire, brain, **arguments) as model:
        return await stack(model).complete(request(temperature=temperature))


@pytest.mark.parametrize("structured", [mode for mode in Structured if mode is not Structured.PROMPT], ids=str)
async def test_the_same_brain_gives_the_same_values_through_every_wire(structured: Structured) -> None:
    through_litellm = LITELLM_TOOLS if structured is Structured.TOOLS else HAS_LITELLM
    wires = SDKS + (["litellm-openai", "litellm-anthropic"] if through_litellm else [])
    brains = {
        wire: Brain(lambda asked: TEXT.replace("move", ["wait", "move"][len(asked.messages) % 2])) for wire in wires
    }
    answers = {wire: await ask(wire, brains[wire], None, structured=structured) for wire in wires}
    assert len({str(answer.value) for answer in answers.values()}) == 1
    assert {answer.usage for answer in answers.values()} == {Usage(100, 20)}
    assert {answer.repairs for answer in answers.values()} == {0}
    assert len({tuple(m.content for m in brain.asked[0].messages) for brain in brains.values()}) == 1


class Refusing:
    """A model that refuses."""

    async def complete(self, _request: Request) -> Reply:
        return Reply("I cannot help with that.", Finish.REFUSAL, Usage(100, 6), None, 0.0, "simulated")


@pytest.mark.parametrize("wire", WIRES)
async def test_a_refusal_is_one_by_every_wire(wire: str) -> None:
    async with provider(wire, Refusing()) as model:
        reply = await model.complete(request())
    assert (reply.finish, reply.text) == (Finish.REFUSAL, "I cannot help with that.")


@pytest.mark.parametrize("wire", WIRES)
async def test_the_prompt_reaches_the_brain_unchanged_and_with_its_schema(wire: str) -> None:
    brain = Brain()
    answer = await ask(wire, brain, 0.5)
    sent = brain.asked[0]
    assert sent.messages == request().messages
    assert sent.sampling.max_tokens == 256
    assert sent.answer is not None
    assert set(sent.answer.schema["properties"]) == {"plan", "mood"}
    assert answer.value == ANSWER
    assert answer.model.endswith("simulated")
    assert answer.simulated


@pytest.mark.parametrize("wire", WIRES)
async def test_without_a_better_way_the_schema_stands_in_the_prompt(wire: str) -> None:
    brain = Brain()
    answer = await ask(wire, brain, None, structured=Structured.PROMPT)
    sent = brain.asked[0]
    assert answer.value == ANSWER
    assert sent.answer is None
    assert '"maximum":9' in "".join(m.content for m in sent.messages if m.role is ChatRole.SYSTEM)


@pytest.mark.parametrize("wire", WIRES)
async def test_a_form_that_the_prompt_gives_is_not_given_again(wire: str) -> None:
    brain = Brain()
    asked = request()
    assert asked.answer is not None
    async with provider(wire, brain, structured=Structured.PROMPT) as model:
        reply = await stack(model).complete(replace(asked, answer=replace(asked.answer, in_words=True)))
    assert reply.value == ANSWER
    assert [sent.messages for sent in brain.asked] == [asked.messages]


@pytest.mark.parametrize("structured", [Structured.SCHEMA, Structured.TOOLS], ids=str)
@pytest.mark.parametrize("wire", SDKS)
async def test_the_keys_of_a_form_reach_the_server_in_their_order(wire: str, structured: Structured) -> None:
    thoughts = {"type": "string", "maxLength": 99}
    properties = {"thoughts": thoughts, **SCHEMA["properties"], "another": {"type": "string"}}
    schema = {**SCHEMA, "required": list(properties), "properties": properties}
    brain = Brain(json.dumps({"thoughts": "so", **ANSWER, "another": ""}))
    async with provider(wire, brain, structured=structured) as model:
        await stack(model).complete(replace(request(), answer=AnswerFormat("decision", schema)))
    [sent] = brain.asked
    assert sent.answer is not None
    assert list(sent.answer.schema["properties"]) == ["thoughts", "plan", "mood", "another"]


@pytest.mark.parametrize(
    ("kind", "tools"), [(FaultKind.NO_SCHEMA, True), (FaultKind.NO_TOOLS, False)], ids=["no schema", "no tools either"]
)
@pytest.mark.parametrize("wire", WIRES)
async def test_auto_falls_back_and_remembers_what_the_server_refuses(wire: str, kind: FaultKind, tools: bool) -> None:
    brain = Brain()
    async with provider(wire, brain, faults=lambda _: Fault(kind)) as model:
        first = await stack(model).complete(request())
        second = await stack(model).complete(request())
    assert first.value == second.value == ANSWER
    assert second.attempts == 1
    if "litellm" not in wire:  # which rewrites requests in its own way
        assert first.attempts == (3 if tools else 5)
        assert all((asked.answer is not None) is tools for asked in brain.asked)


@pytest.mark.parametrize("wire", SDKS)
async def test_a_chosen_mode_that_the_server_refuses_is_a_bad_request(wire: str) -> None:
    with pytest.raises(BadRequest, match="json_schema"):
        await ask(wire, Brain(), None, structured=Structured.SCHEMA, faults=lambda _: Fault(FaultKind.NO_SCHEMA))


@pytest.mark.skipif(not HAS_LITELLM or LITELLM_TOOLS, reason="litellm is missing, or has all it needs for tools")
async def test_a_package_that_litellm_misses_is_named_and_is_no_lost_connection() -> None:
    with pytest.raises(BadRequest, match="pip install mcp"):
        await ask("litellm-openai", Brain(), None, structured=Structured.TOOLS)


async def test_anthropic_takes_no_temperature_and_says_so() -> None:
    brain = Brain()
    answer = await ask("anthropic", brain, 0.0)
    assert answer.not_sent == ("temperature",)
    assert brain.asked[0].sampling.temperature is None


@pytest.mark.parametrize("wire", ["openai", *THROUGH_LITELLM[:1]])
async def test_a_temperature_is_sent_until_the_model_refuses_it(wire: str) -> None:
    brain = Brain()
    assert (await ask(wire, brain, 0.5)).not_sent == ()
    assert brain.asked[0].sampling.temperature == 0.5
    refused = await ask(wire, brain, 0.5, faults=lambda _: Fault(FaultKind.NO_TEMPERATURE))
    assert refused.not_sent == ("temperature",)
    assert refused.attempts == 3


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
async def test_tokens_of_the_provider_s_cache_cost_their_own_price(wire: str) -> None:
    price = Price(input=2.0, output=10.0, cached=0.5, cache_write=2.5, source="test", date="2026-11-21")
    usage = Usage(1000, 100, 400, cache_written=200)
    async with provider(wire, Brain([Reply(TEXT, Finish.STOP, usage, None, 0.0, "simulated")])) as model:
        answer = await stack(model, price=price).complete(request(temperature=None))
    assert answer.usage == usage
    assert answer.usd == pytest.approx((400 * 2.0 + 400 * 0.5 + 200 * 2.5 + 100 * 10.0) / 1e6)


CHARGED: dict[str, tuple[dict[str, Any], float | None]] = {
    "a cost": ({"cost": 0.95}, 0.95),
    "nothing": ({"cost": 0}, 0.0),
    "what the provider behind it got of it": ({"cost": 0.95, "cost_details": {"upstream_inference_cost": 0.9}}, 0.95),
    "a key of one's own": (
        {"cost": 0.05, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.9}},
        0.95,
    ),
    "a key of one's own, half known": ({"cost": 0.05, "is_byok": True}, None),
    "no cost": ({}, None),
    "no number": ({"cost": "0.95"}, None),
    "a negative one": ({"cost": -1.0}, None),
    "a truth value": ({"cost": True}, None),
}


@pytest.mark.parametrize(("usage", "usd"), CHARGED.values(), ids=CHARGED)
async def test_what_an_answer_says_that_it_has_cost_is_its_money(usage: dict[str, Any], usd: float | None) -> None:
    """The body is one of OpenRouter (openrouter.ai/docs, Usage Accounting)."""
    body = {
        "id": "gen-1",
        "object": "chat.completion",
        "created": 0,
        "model": "openai/gpt-5-mini",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, **usage},
    }
    price = Price(1.0, 1.0, 1.0, 1.0, source="test", date="2026-11-21")
    async with answering(body) as base_url, OpenAIModel("m", base_url=base_url, key_variable=None) as model:
        answers = [
            await stack(model, **arguments).complete(request())
            for arguments in ({}, {"price": price}, {"price": replace(price, given=True)})
        ]
    said = None if usd is None else pytest.approx(usd)
    by_table, by_user = pytest.approx(15e-6), pytest.approx(15e-6)
    assert [answer.usd for answer in answers] == [said, by_table if usd is None else said, by_user]


@asynccontextmanager
async def answering(body: dict[str, Any]) -> AsyncIterator[str]:
    """Serve one body for every request."""
    content = json.dumps(body).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n".encode()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in asked.lower().splitlines() if b"content-length" in line)
        await reader.readexactly(length)
        writer.write(head + content)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


@pytest.mark.parametrize("wire", WIRES)
async def test_an_unknown_price_is_unknown_money(wire: str) -> None:
    assert (await ask(wire, Brain(), None)).usd is None


async def test_free_text_is_left_as_it_is() -> None:
    async with provider("openai", Brain("Hello {there}")) as model:
        answer = await stack(model).complete(request(free=True))
    assert (answer.text, answer.value, answer.repairs) == ("Hello {there}", None, 0)


@pytest.mark.parametrize("value", ["", "  \n"])
async def test_a_missing_key_is_named_by_its_variable(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("SOME_API_KEY", value)
    with pytest.raises(AuthenticationFailed, match="SOME_API_KEY"):
        OpenAIModel("simulated", key_variable="SOME_API_KEY")


async def test_an_address_with_a_password_is_refused() -> None:
    with pytest.raises(ValueError, match="environment"):
        OpenAIModel("simulated", base_url="https://user:password@example.org/v1", key_variable=None)


@pytest.mark.parametrize(("preset", "own"), [(None, None), ("anthropic", "anthropic"), ("gemini", "google.genai")])
def test_an_sdk_is_imported_only_when_its_provider_is_built(preset: str | None, own: str | None) -> None:
    """OpenAI's is that of two providers, so what the others load is what says whether each loads but its own."""
    import subprocess

    code = (
        "import sys; from quorum.configuration.registry import providers;"
        "built = [providers.get(n) for n in ('openai', 'openai_responses', 'anthropic', 'gemini', 'litellm')];"
        "from quorum.agents.llm.providers.anthropic import AnthropicModel as anthropic;"
        "from quorum.more_providers.gemini import GeminiModel as gemini;"
        f"{preset}('m', key_variable=None) if {preset} else None;"
        "print(*{'openai', 'anthropic', 'google.genai', 'litellm'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (own or "")


@pytest.mark.skipif(HAS_LITELLM, reason="litellm is installed")
def test_without_litellm_the_error_says_how_to_install_it() -> None:
    with pytest.raises(ImportError, match="quorum-harness\\[litellm\\]") as caught:
        LiteLLMModel("gemini/any")
    assert INSTALL in str(caught.value)


@pytest.mark.skipif(not HAS_LITELLM, reason=INSTALL)
def test_litellm_looks_nothing_up_when_it_is_imported() -> None:
    import subprocess

    code = (
        "import socket\n"
        "def connect(*arguments): raise SystemExit('a connection')\n"
        "socket.socket.connect = socket.create_connection = socket.getaddrinfo = connect\n"
        "from quorum.more_providers.litellm import LiteLLMModel\n"
        "LiteLLMModel('openai/any', base_url='http://127.0.0.1:1')"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_strict_mode_is_asked_for_only_where_a_schema_obeys_its_rules() -> None:
    assert is_strict(SCHEMA)
    inner = {"type": "object", "properties": {"a": {"type": "string"}}, "required": [], "additionalProperties": False}
    assert not is_strict(inner)
    assert not is_strict({**SCHEMA, "properties": {**SCHEMA["properties"], "more": inner}})
    assert not is_strict({"type": "object", "properties": {}, "required": []})


async def test_a_schema_that_anthropic_cannot_take_falls_back_to_tools() -> None:
    from dataclasses import replace

    loose = {"type": "object", "properties": {"anything": {}}, "required": ["anything"], "additionalProperties": False}
    async with provider("anthropic", Brain('{"anything": 3}')) as model:
        answer = await stack(model).complete(replace(request(), answer=AnswerFormat("loose", loose)))
    assert answer.value == {"anything": 3}


def test_a_lone_surrogate_is_replaced_before_it_reaches_a_record() -> None:
    assert printable_unicode("a\ud800b") == "a?b"


async def test_calls_at_the_same_time_do_not_mix() -> None:
    import asyncio

    async with provider("openai", Brain(lambda asked: asked.messages[-1].content), latency=0.02) as model:
        answers = await asyncio.gather(*(model.complete(request(str(i), free=True)) for i in range(32)))
    assert [answer.text for answer in answers] == [str(i) for i in range(32)]

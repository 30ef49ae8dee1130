"""The Responses API by the SDK's own types: what is sent is what its method sends, and all that it answers is read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import openai
import pytest
from openai.types import responses as types
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import ConfigDict, TypeAdapter

from quorum.agents.llm.errors import BadRequest, BrokenResponse, LanguageModelError, RateLimited, ServerFailed
from quorum.agents.llm.protocol import ChatMessage, ChatRole, Finish, Request, Structured, ThinkingEffort, Usage
from quorum.configuration.cell import Cell
from quorum_base.user_errors import UserError
from tests.agents.llm.raw import answer, raw_server
from tests.agents.llm.test_pictures import png, shown
from tests.agents.llm.wire import TEXT, client, request

REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "First"}, {"type": "summary_text", "text": "then"}],
    "encrypted_content": "gAAAA",
}
CARRIED = {**REASONING, "summary": [{"type": "summary_text", "text": "First"}]}


def message(*content: dict[str, Any]) -> dict[str, Any]:
    """Give the item of a message."""
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": list(content)}


def text(said: str) -> dict[str, Any]:
    """Give a part of a message."""
    return {"type": "output_text", "text": said, "annotations": []}


SAID = message(text(TEXT))


def response(*output: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Give a response that the SDK's own type takes."""
    body = {
        "id": "resp_1",
        "object": "response",
        "created_at": 0,
        "model": "gpt-5-2025-08-07",
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "output": list(output),
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "service_tier": "flex",
        "usage": {
            "input_tokens": 100,
            "output_tokens": 20,
            "total_tokens": 120,
            "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 16},
            "output_tokens_details": {"reasoning_tokens": 12},
        },
    }
    return types.Response.model_validate(body | changes).to_dict(mode="json")


def turns() -> Request:
    """Ask in a later turn of a conversation."""
    system, user = request().messages
    said = ChatMessage(ChatRole.ASSISTANT, TEXT, carried=(CARRIED, {"type": "thinking", "signature": "another's"}))
    return replace(request(), messages=(system, user, said, user), carry=True)


def marked() -> Request:
    """Ask with a prompt whose beginning may come again."""
    asked = request("Hello there.")
    return replace(asked, messages=tuple(replace(said, marks=(6,)) for said in asked.messages))


WANTED: dict[str, tuple[Request, dict[str, Any]]] = {
    "a form": (request(), {}),
    "a tool": (request(), {"structured": Structured.TOOLS}),
    "words": (request(), {"structured": Structured.PROMPT}),
    "free text": (request(free=True, temperature=None), {"service_tier": "flex", "keep_thinking": False}),
    "a picture": (shown(png()), {}),
    "a conversation": (turns(), {"model": "gpt-5"}),
    "marks": (marked(), {"model": "gpt-6-sol"}),
}


@pytest.fixture(scope="module")
def parameters() -> TypeAdapter[Any]:
    """The parameters that the SDK's types know, and no others."""
    return TypeAdapter(list[ResponseCreateParamsNonStreaming], config=ConfigDict(extra="forbid"))


@pytest.mark.parametrize(("asked", "arguments"), WANTED.values(), ids=WANTED)
async def test_what_is_sent_is_of_the_sdks_types_and_what_its_own_method_sends(
    asked: Request, arguments: dict[str, Any], parameters: TypeAdapter[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quorum.agents.llm.providers.openai.OFFICIAL_HOST", "127.0.0.1")
    effort = None if asked.sampling.temperature is None else ThinkingEffort.LOW
    asked = replace(asked, sampling=replace(asked.sampling, effort=effort))
    async with raw_server(answer(response(SAID))) as (addresses, server):
        async with client("openai_responses", addresses, **arguments) as model:
            await model.complete(asked)
        (body,) = server.asked
        parameters.validate_python([body])
        async with openai.AsyncOpenAI(api_key="any", base_url=addresses.openai) as bare:
            await bare.responses.create(**body)
        assert server.asked[1] == body
        assert server.paths[1] == server.paths[0] == "post /v1/responses http/1.1"
    assert body["store"] is False
    assert ("include" in body) is asked.carry


async def test_reasoning_goes_back_before_the_answer_that_it_led_to() -> None:
    async with (
        raw_server(answer(response(REASONING, SAID))) as (addresses, server),
        client("openai_responses", addresses, model="gpt-5") as model,
    ):
        reply = await model.complete(replace(request(), carry=True))
        await model.complete(turns())
    assert reply.carried == (REASONING,)
    assert reply.thinking == "First\n\nthen"
    system, user, reasoning, said, last = server.asked[1]["input"]
    assert (reasoning, said) == (CARRIED, {"role": "assistant", "content": TEXT})
    assert [item["role"] for item in (system, user, last)] == ["system", "user", "user"]
    assert server.asked[0]["include"] == ["reasoning.encrypted_content"]


READ: dict[str, tuple[dict[str, Any], str, Finish]] = {
    "an answer": (response(REASONING, SAID), TEXT, Finish.STOP),
    "in two parts": (response(message(text("a"), text("b"))), "ab", Finish.STOP),
    "a tool": (
        response({"type": "function_call", "call_id": "c", "name": "decision", "arguments": TEXT}), TEXT, Finish.STOP,
    ),
    "cut off": (
        response(SAID, status="incomplete", incomplete_details={"reason": "max_output_tokens"}), TEXT, Finish.LENGTH,
    ),
    "all room for thoughts": (
        response(REASONING, status="incomplete", incomplete_details={"reason": "max_output_tokens"}), "", Finish.LENGTH,
    ),
    "filtered": (
        response(SAID, status="incomplete", incomplete_details={"reason": "content_filter"}), TEXT, Finish.REFUSAL,
    ),
    "refused": (response(message({"type": "refusal", "refusal": "No."})), "No.", Finish.REFUSAL),
    "thoughts alone": (response(REASONING), "", Finish.STOP),
}  # fmt: skip


@pytest.mark.parametrize(("body", "said", "finish"), READ.values(), ids=READ)
async def test_every_way_in_which_a_response_ends_is_read(body: dict[str, Any], said: str, finish: Finish) -> None:
    async with raw_server(answer(body)) as (addresses, _), client("openai_responses", addresses) as model:
        reply = await model.complete(request())
    assert (reply.text, reply.finish) == (said, finish)
    assert reply.usage == Usage(100, 20, cached=64, cache_written=16, reasoning=12)
    assert (reply.model, reply.tier, reply.carried) == ("gpt-5-2025-08-07", "flex", ())


FAILED: dict[str, tuple[dict[str, Any], type[LanguageModelError]]] = {
    "the server's fault": (response(status="failed", error={"code": "server_error", "message": "Oh."}), ServerFailed),
    "its limits": (response(status="failed", error={"code": "rate_limit_exceeded", "message": "Oh."}), RateLimited),
    "the prompt's": (response(status="failed", error={"code": "invalid_prompt", "message": "Oh."}), BadRequest),
    "not over": (response(status="in_progress"), BrokenResponse),
    "nothing": (response(), BrokenResponse),
    "something else": ({"output": [1]}, BrokenResponse),
}


@pytest.mark.parametrize(("body", "failure"), FAILED.values(), ids=FAILED)
async def test_a_response_without_an_answer_has_its_own_error(
    body: dict[str, Any], failure: type[LanguageModelError]
) -> None:
    async with raw_server(answer(body)) as (addresses, _), client("openai_responses", addresses) as model:
        with pytest.raises(failure):
            await model.complete(request())


async def test_a_summary_that_is_kept_from_an_organization_is_left_out_and_nothing_else() -> None:
    refused = {"error": {"message": "Your organization must be verified to generate reasoning summaries."}}

    async def respond(body: dict[str, Any], _writer: Any) -> Any:
        return answer(refused, 400) if "summary" in body["reasoning"] else answer(response(SAID))

    thinking = replace(request(), sampling=replace(request().sampling, effort=ThinkingEffort.LOW))
    async with raw_server(respond) as (addresses, server), client("openai_responses", addresses) as model:
        reply = await model.complete(thinking)
    assert (reply.attempts, reply.not_sent) == (3, ())
    assert server.asked[2]["reasoning"] == {"effort": "low"}


async def test_a_tool_is_called_after_thoughts_which_chat_completions_refuse() -> None:
    async with raw_server(answer(response(SAID))) as (addresses, server):
        arguments = {"model": "gpt-6-sol", "structured": Structured.TOOLS}
        async with client("openai_responses", addresses, **arguments) as model:
            await model.complete(request())
    assert server.asked[0]["tool_choice"] == {"type": "function", "name": "decision"}
    Cell.compose(["agents=naive", "llm=openai_responses", "llm.model=gpt-6-sol", "llm.structured=tools"])


def test_what_a_family_does_not_take_is_refused_before_the_run() -> None:
    with pytest.raises(UserError, match="gpt-5-pro takes high"):
        Cell.compose(["agents=naive", "llm=openai_responses", "llm.model=gpt-5-pro", "llm.effort=low"])


@pytest.mark.parametrize("model", ["o3-pro", "gpt-5-pro-2025-10-06", "gpt-5.2-codex"])
def test_a_model_that_chat_completions_do_not_have_names_the_way_to_ask_it(model: str) -> None:
    with pytest.raises(UserError, match=f"llm.model.*{model}.*llm=openai_responses"):
        Cell.compose(["agents=naive", "llm=openai", f"llm.model={model}"])
    for asked in (["llm=openai_responses"], ["llm=openai", "llm.base_url=http://proxy:1/v1"]):
        Cell.compose(["agents=naive", *asked, f"llm.model={model}"])

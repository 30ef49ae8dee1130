"""The Gemini API by the SDK's own types: what is sent is what its method sends, and all that it answers is read."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import httpx2
import pytest
from google import genai
from google.genai import types

from quorum.agents.llm.errors import AuthenticationFailed, BadRequest, BrokenResponse, RateLimited
from quorum.agents.llm.protocol import ChatMessage, ChatRole, Finish, Request, Sampling, Structured, Usage
from quorum.agents.llm.protocol import ThinkingEffort as Effort
from quorum.configuration.cell import Cell
from quorum.more_providers.gemini import INSTALL, VERSION, GeminiModel
from quorum_base.user_errors import UserError
from tests.agents.llm.raw import answer, raw_server
from tests.agents.llm.test_pictures import png, shown
from tests.agents.llm.wire import CANARY, SCHEMA, TEXT, client, request

SIGNATURE = b"\xfb\xff signed"
CARRIED = {"thoughtSignature": "-_8gc2lnbmVk"}
NEWER = {"newer": {"than": "the SDK"}}
EXTRA = {"generationConfig": {"topK": 40, **NEWER}, "labels": {"a": "b"}, **NEWER}
SYSTEM = types.Content(parts=[types.Part(text="You are an agent.")])
USER = types.Content(role="user", parts=[types.Part(text="What will you do?")])
FORM = {"response_mime_type": "application/json", "response_json_schema": SCHEMA}
DECLARED = types.FunctionDeclaration(name="decision", description="Give the answer.", parameters_json_schema=SCHEMA)
FORCED = types.FunctionCallingConfig(mode="ANY", allowed_function_names=["decision"])


def thinking(**values: Any) -> Any:
    """Give how a model is asked to think, with the text of its thoughts."""
    return types.ThinkingConfig(include_thoughts=True, **values)


def drawn(**values: Any) -> Request:
    """Ask with a way to draw the answer."""
    return replace(request(), sampling=Sampling(None, 256, **values))


def turns() -> Request:
    """Ask in a later turn of a conversation."""
    system, user = request().messages
    said = ChatMessage(ChatRole.ASSISTANT, TEXT, carried=({"type": "thinking"}, CARRIED))
    return replace(request(), messages=(system, user, said, user), carry=True)


SENT: dict[str, tuple[str, Request, dict[str, Any], list[Any], dict[str, Any]]] = {
    "a form": ("new", request(), {}, [USER], {"temperature": 0.0, "max_output_tokens": 256, **FORM}),
    "a tool": (
        "new",
        request(),
        {"structured": Structured.TOOLS},
        [USER],
        {
            "temperature": 0.0,
            "max_output_tokens": 256,
            "tools": [types.Tool(function_declarations=[DECLARED])],
            "tool_config": types.ToolConfig(function_calling_config=FORCED),
        },
    ),
    "all that is drawn by": (
        "new",
        drawn(seed=7, top_p=0.9, stop=("END",), extra_body=EXTRA),
        {"service_tier": "flex"},
        [USER],
        {
            "seed": 7,
            "top_p": 0.9,
            "top_k": 40,
            "labels": {"a": "b"},
            "stop_sequences": ["END"],
            "service_tier": "flex",
            "http_options": types.HttpOptions(extra_body={"generationConfig": NEWER, **NEWER}),
            "max_output_tokens": 256,
            **FORM,
        },
    ),
    "a level": (
        "gemini-3-flash-preview",
        drawn(effort=Effort.LOW),
        {},
        [USER],
        {"max_output_tokens": 4352, "thinking_config": thinking(thinking_level="LOW"), **FORM},
    ),
    "a budget": (
        "gemini-2.5-pro",
        drawn(thinking_tokens=500),
        {},
        [USER],
        {"max_output_tokens": 756, "thinking_config": thinking(thinking_budget=500), **FORM},
    ),
    "no thoughts": (
        "gemini-2.5-flash",
        drawn(effort=Effort.NONE),
        {},
        [USER],
        {"max_output_tokens": 256, "thinking_config": types.ThinkingConfig(thinking_budget=0), **FORM},
    ),
    "thoughts without their text": (
        "gemini-2.5-flash", drawn(), {"keep_thinking": False}, [USER], {"max_output_tokens": 8448, **FORM},
    ),
    "a picture": (
        "new",
        shown(png(), prompt="What will you do?"),
        {},
        [
            types.Content(
                role="user",
                parts=[types.Part.from_bytes(data=png(), mime_type="image/png"), types.Part(text="What will you do?")],
            )
        ],
        {"temperature": 0.0, "max_output_tokens": 256, **FORM},
    ),
    "a conversation": (
        "new",
        turns(),
        {},
        [USER, types.Content(role="model", parts=[types.Part(text=TEXT, thought_signature=SIGNATURE)]), USER],
        {"temperature": 0.0, "max_output_tokens": 256, **FORM},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("model", "asked", "arguments", "contents", "config"), SENT.values(), ids=SENT)
async def test_what_is_sent_is_what_the_sdk_sends_of_its_own_types(
    model: str, asked: Request, arguments: dict[str, Any], contents: list[Any], config: dict[str, Any]
) -> None:
    async with raw_server(answer(response(text=TEXT))) as (addresses, server):
        async with client("gemini", addresses, model=model, **arguments) as ours:
            await ours.complete(asked)
        async with httpx2.AsyncClient(verify=False) as plain:
            options = types.HttpOptions(base_url=addresses.anthropic, api_version=VERSION, httpx_async_client=plain)
            bare = genai.Client(api_key="any", vertexai=False, http_options=options)
            wanted = types.GenerateContentConfig(system_instruction=SYSTEM, **config)
            await bare.aio.models.generate_content(model=model, contents=contents, config=wanted)
            bare.close()
    assert server.asked[0] == server.asked[1]
    assert server.paths[0] == server.paths[1] == f"post /v1beta/models/{model}:generatecontent http/1.1"


def response(
    *parts: types.Part, text: str | None = None, finish: str | None = "STOP", **changes: Any
) -> dict[str, Any]:
    """Give a response of the SDK's own type."""
    content = types.Content(role="model", parts=[*parts, *([] if text is None else [types.Part(text=text)])])
    usage = types.GenerateContentResponseUsageMetadata(
        prompt_token_count=100,
        cached_content_token_count=64,
        candidates_token_count=8,
        thoughts_token_count=12,
        total_token_count=120,
    )
    candidate = types.Candidate(content=content, finish_reason=finish, index=0)
    values = {"candidates": [candidate], "usage_metadata": usage, "model_version": "gemini-3-flash", **changes}
    body = types.GenerateContentResponse(**values)
    return body.model_dump(mode="json", by_alias=True, exclude_none=True)


CALLED = types.Part(function_call=types.FunctionCall(name="decision", args={"a": "ä"}))
THOUGHT = types.Part(text="First", thought=True)
BLOCKED = types.GenerateContentResponsePromptFeedback(block_reason="SAFETY")
READ: dict[str, tuple[dict[str, Any], str, Finish]] = {
    "an answer": (response(THOUGHT, text=TEXT), TEXT, Finish.STOP),
    "in two parts": (response(types.Part(text="a"), text="b"), "ab", Finish.STOP),
    "a function": (response(CALLED), '{"a": "ä"}', Finish.STOP),
    "a function of what no record can hold": (
        response(types.Part(function_call=types.FunctionCall(name="decision", args={"a": 2**70}))),
        '{"a": 1180591620717411303424}',
        Finish.STOP,
    ),
    "cut off": (response(text="{", finish="MAX_TOKENS"), "{", Finish.LENGTH),
    "all room for thoughts": (response(THOUGHT, finish="MAX_TOKENS"), "", Finish.LENGTH),
    "without content": (response(candidates=[types.Candidate(finish_reason="SAFETY")]), "", Finish.REFUSAL),
    "recited": (response(text="x", finish="RECITATION"), "x", Finish.REFUSAL),
    "a blocked prompt": (response(candidates=None, prompt_feedback=BLOCKED), "", Finish.REFUSAL),
    "a call that is malformed": (response(text="", finish="MALFORMED_FUNCTION_CALL"), "", Finish.STOP),
}  # fmt: skip


@pytest.mark.parametrize(("body", "text", "finish"), READ.values(), ids=READ)
async def test_every_way_in_which_a_response_ends_is_read(body: dict[str, Any], text: str, finish: Finish) -> None:
    said = answer(body, **{"x-gemini-service-tier": "priority"})
    async with raw_server(said) as (addresses, _), client("gemini", addresses) as model:
        reply = await model.complete(request())
    assert (reply.text, reply.finish) == (text, finish)
    assert reply.usage == Usage(100, 20, cached=64, reasoning=12)
    assert (reply.model, reply.tier, reply.carried) == ("gemini-3-flash", "priority", ())
    assert reply.thinking == ("First" if THOUGHT.text in str(body) else "")


async def test_the_signature_of_thoughts_is_carried_with_the_answer() -> None:
    body = response(THOUGHT, types.Part(text=TEXT, thought_signature=SIGNATURE))
    async with raw_server(answer(body)) as (addresses, _), client("gemini", addresses) as model:
        assert (await model.complete(replace(request(), carry=True))).carried == (CARRIED,)


BROKEN = [
    response(candidates=[]),
    response(text=TEXT, finish=None),
    [],
    "Hello",
    {"candidates": "none"},
    {"candidates": 5},
]


@pytest.mark.parametrize("body", BROKEN, ids=range(len(BROKEN)))
async def test_a_success_without_an_answer_is_broken(body: Any) -> None:
    async with raw_server(answer(body)) as (addresses, _), client("gemini", addresses) as model:
        with pytest.raises(BrokenResponse):
            await model.complete(request())


async def test_a_wrong_key_is_known_by_its_reason_since_its_status_is_400() -> None:
    error = {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}
    body = {"error": {**error, "details": [{"reason": "API_KEY_INVALID", "domain": "googleapis.com"}]}}
    async with raw_server(answer(body, 400)) as (addresses, server), client("gemini", addresses) as model:
        with pytest.raises(AuthenticationFailed):
            await model.complete(request())
    assert len(server.asked) == 1


@pytest.mark.parametrize(("said", "wait"), [("34.5s", 34.5), (34.5, 34.5), (["soon"], None)])
async def test_how_long_to_wait_is_read_from_the_body(said: object, wait: float | None) -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": said}]
    body = {"error": {"code": 429, "message": "Quota.", "status": "RESOURCE_EXHAUSTED", "details": details}}
    async with raw_server(answer(body, 429)) as (addresses, _), client("gemini", addresses) as model:
        with pytest.raises(RateLimited) as caught:
            await model.complete(request())
    assert caught.value.retry_after == wait


async def test_what_the_environment_says_to_the_sdk_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    others = {"GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_API_KEY": "another", "GOOGLE_GENAI_API_VERSION": "v1alpha"}
    for name, value in others.items():
        monkeypatch.setenv(name, value)
    async with raw_server(answer(response(text=TEXT))) as (addresses, server), client("gemini", addresses) as model:
        await model.complete(request())
    assert server.paths == ["post /v1beta/models/simulated:generatecontent http/1.1"]
    assert server.headers[0]["x-goog-api-key"] == CANARY


async def test_a_redirect_on_the_same_server_is_followed() -> None:
    async def moved(body: dict[str, Any], _writer: Any) -> Any:
        return (307, {"location": "/moved"}, b"") if len(server.asked) == 1 else answer(response(text=TEXT))

    async with raw_server(moved) as (addresses, server), client("gemini", addresses) as model:
        assert (await model.complete(request())).text == TEXT
    assert server.asked[0] == server.asked[1]
    assert server.paths[1].startswith("post /moved ")


async def test_a_field_of_a_wrong_form_is_refused_before_anything_is_sent() -> None:
    async with raw_server(answer({})) as (addresses, server), client("gemini", addresses) as model:
        with pytest.raises(BadRequest, match="safetySettings"):
            await model.complete(drawn(extra_body={"safetySettings": "none"}))
    assert server.asked == []


def test_without_the_sdk_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google", None)
    with pytest.raises(ImportError, match=r"quorum-harness\[gemini\]") as caught:
        GeminiModel("gemini-2.5-flash", key_variable=None)
    assert INSTALL in str(caught.value)


@pytest.mark.parametrize(
    ("model", "values", "problem"),
    [
        ("gemini-2.5-flash", "llm.effort=low", "llm.thinking_tokens=4096"),
        ("gemini-2.5-pro", "llm.thinking_tokens=100", "128 to 32768"),
        ("gemini-4-argon", "llm.effort=minimal", "takes low, medium, high"),
        ("gemini-4-hydrogen", "llm.thinking_tokens=4096", "low, medium, high, xhigh"),
    ],
)
def test_what_a_family_does_not_take_is_refused_before_the_run(model: str, values: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        Cell.compose(["agents=naive", "llm=gemini", f"llm.model={model}", values])

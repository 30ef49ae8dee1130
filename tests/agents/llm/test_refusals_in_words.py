"""What services say where they refuse: one fact has one outcome, in whatever words and with whatever status."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from quorum.agents.llm.errors import (
    AuthenticationFailed,
    BadRequest,
    ContentFiltered,
    ContextOverflow,
    EmptyAnswer,
    LanguageModelError,
    RateLimited,
    RequestRefused,
    ServerFailed,
    UnknownModel,
)
from quorum.agents.llm.protocol import Finish
from quorum.agents.llm.providers.failures import error_text, status_failure
from quorum.agents.llm.providers.waits import retry_after
from tests.agents.llm.raw import Answer, answer, completion, raw_server
from tests.agents.llm.wire import SDKS, client, request, stack

HERE = Path(__file__).parent
FULL = yaml.safe_load((HERE / "full_context.yaml").read_text(encoding="utf-8"))
REFUSALS = yaml.safe_load((HERE / "final_refusals.yaml").read_text(encoding="utf-8"))


def _said(group: str) -> Any:
    return [pytest.param(row, id=row["service"]) for row in REFUSALS[group]]


def _failure(row: Mapping[str, Any]) -> LanguageModelError:
    text, code = error_text({"error": row["error"]}, "")
    wait = retry_after(None, text)
    return status_failure(row["status"], text, code=code, wait=wait, model="m", variable=None)


@pytest.mark.parametrize("row", [pytest.param(row, id=row["server"]) for row in FULL])
def test_a_full_context_is_one_outcome_in_the_words_of_every_server(row: Mapping[str, Any]) -> None:
    failure = _failure(row)
    assert type(failure) is ContextOverflow
    assert failure.room == row.get("room")


def test_the_table_of_full_contexts_names_its_sources() -> None:
    assert len(FULL) >= 38
    assert all(row["source"] for row in FULL)
    assert len({row["server"] for row in FULL}) == len(FULL)


@pytest.mark.parametrize("row", _said("final"))
def test_what_no_wait_helps_against_ends_at_once_with_its_text(row: Mapping[str, Any]) -> None:
    failure = _failure(row)
    assert type(failure) is RequestRefused
    assert row["error"]["message"][:40] in str(failure)


@pytest.mark.parametrize("row", _said("limited"))
def test_a_limit_that_a_wait_meets_is_waited_for(row: Mapping[str, Any]) -> None:
    failure = _failure(row)
    assert type(failure) is RateLimited
    assert failure.retry_after == pytest.approx(row.get("wait"))


@pytest.mark.parametrize("row", _said("filtered"))
def test_a_filter_is_known_in_the_words_of_every_service(row: Mapping[str, Any]) -> None:
    assert type(_failure(row)) is ContentFiltered


@pytest.mark.parametrize("row", _said("region"))
def test_a_place_that_is_not_served_is_no_matter_of_the_key(row: Mapping[str, Any]) -> None:
    failure = _failure(row)
    assert type(failure) is RequestRefused
    assert "not offered where this request comes from" in str(failure)


@pytest.mark.parametrize("row", _said("access"))
def test_a_model_that_the_key_may_not_use_is_named(row: Mapping[str, Any]) -> None:
    failure = _failure(row)
    assert type(failure) is UnknownModel
    assert "may not use the model 'm'" in str(failure)


OTHERS = [
    (400, "max_tokens is too large: 20000. This model supports at most 16384 completion tokens", BadRequest),
    (400, "messages: at least one message is required", BadRequest),
    (404, "The model `context-8k` does not exist", UnknownModel),
    (401, "Incorrect API key provided", AuthenticationFailed),
    (403, "The key is disabled", AuthenticationFailed),
    (429, "Too many requests", RateLimited),
    (429, "on tokens per min: Limit 30000, Used 29000, Requested 2000", RateLimited),
    (500, "the content_filter service is down", ServerFailed),
]


@pytest.mark.parametrize(("status", "text", "kind"), OTHERS)
def test_other_refusals_keep_their_own_outcome(status: int, text: str, kind: type[Exception]) -> None:
    assert type(_failure({"status": status, "error": {"message": text}})) is kind


PAGE = b"<!DOCTYPE html><html><head><title>Access denied | fw.example</title></head><body>No.</body></html>"


@pytest.mark.parametrize("status", [401, 403, 407, 511])
@pytest.mark.parametrize("wire", SDKS)
async def test_a_page_of_a_firewall_is_no_matter_of_the_key(wire: str, status: int) -> None:
    said: Answer = (status, {"content-type": "text/html"}, PAGE)
    async with raw_server(said) as (addresses, _), client(wire, addresses) as model:
        with pytest.raises(RequestRefused, match=r"firewall.*Access denied \| fw.example") as caught:
            await model.complete(request())
    assert type(caught.value) is RequestRefused


ERRORS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"error": {"code": 402, "message": "Insufficient credits"}}, RequestRefused, "Insufficient credits"),
    ({"error": {"code": "402", "message": "Pay first"}}, RequestRefused, "Pay first"),
    ({"error": {"code": 401, "message": "No auth"}}, AuthenticationFailed, "No auth"),
    ({"error": {"code": "invalid_api_key", "message": "Bad one"}}, AuthenticationFailed, "Bad one"),
    ({"error": {"code": 429, "message": "Slow down"}}, RateLimited, "Slow down"),
    ({"error": {"status": "RESOURCE_EXHAUSTED", "message": "Slow down"}}, RateLimited, "Slow down"),
    ({"error": {"code": 404, "message": "no such model"}}, UnknownModel, "no such model"),
    ({"error": {"code": 502, "message": "Upstream is gone"}}, ServerFailed, "Upstream is gone"),
    ({"error": {"message": "Upstream is gone"}}, ServerFailed, "Upstream is gone"),
    ({"error": "Upstream is gone"}, ServerFailed, "Upstream is gone"),
    ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, ServerFailed, "Overloaded"),
    ({"type": "error", "error": {"type": "authentication_error", "message": "key"}}, AuthenticationFailed, "key"),
    ({"type": "error", "error": {"type": "invalid_request_error", "message": "messages"}}, BadRequest, "messages"),
    ({"error": {"error": {"code": "429", "message": "Within"}}}, RateLimited, "Within"),
    ({"error": {"message": json.dumps({"error": {"code": 429, "message": "Within"}})}}, RateLimited, "Within"),
    ({"error": {"code": 400, "message": "maximum context length is 5 tokens"}}, ContextOverflow, "maximum context"),
    ({"id": "gen-1", "choices": [], "error": {"code": 403, "message": "Key off"}}, AuthenticationFailed, "Key off"),
    ({"code": 402, "error": "No credit"}, RequestRefused, "No credit"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "kind", "text"), ERRORS, ids=range(len(ERRORS)))
@pytest.mark.parametrize("wire", SDKS)
async def test_an_error_in_a_success_is_the_error_of_its_code_with_its_text(
    wire: str, body: dict[str, Any], kind: type[Exception], text: str
) -> None:
    async with raw_server(answer(body)) as (addresses, server), client(wire, addresses) as model:
        with pytest.raises(LanguageModelError, match=text) as caught:
            await model.complete(request(free=True))
    assert type(caught.value) is kind
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": 402, "message": "No credit"}, RequestRefused),
        ({"code": "429", "message": "Slow down"}, RateLimited),
        ({"code": 502, "message": "Gone"}, ServerFailed),
        ({"message": "Gone", "metadata": {"raw": "prompt is too long"}}, ContextOverflow),
    ],
)
async def test_an_error_in_a_choice_is_the_error_of_its_code(error: dict[str, Any], kind: type[Exception]) -> None:
    message = {"role": "assistant", "content": ""}
    body = completion(choices=[{"index": 0, "finish_reason": "error", "message": message, "error": error}])
    async with raw_server(answer(body)) as (addresses, _), client("openai", addresses) as model:
        with pytest.raises(LanguageModelError, match=error["message"]) as caught:
            await model.complete(request(free=True))
    assert type(caught.value) is kind


async def test_a_field_of_an_answer_that_is_called_error_is_no_error() -> None:
    body = completion(error=None, message={"role": "assistant", "content": '{"error": "x"}'})
    async with raw_server(answer(body)) as (addresses, _), client("openai", addresses) as model:
        assert (await model.complete(request(free=True))).text == '{"error": "x"}'


FILTERED = REFUSALS["filtered"][0]
REFUSED_ANSWERS: dict[str, dict[str, Any]] = {
    "openai": completion(choices=[{"index": 0, "finish_reason": "content_filter", "message": {"role": "assistant"}}]),
    "anthropic": {
        "id": "x", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": "refusal",
        "usage": {"input_tokens": 9, "output_tokens": 0},
    },
    "openai_responses": {
        "id": "x", "object": "response", "model": "m", "status": "incomplete", "output": [], "error": None,
        "incomplete_details": {"reason": "content_filter"}, "usage": {"input_tokens": 9, "output_tokens": 0},
    },
    "gemini": {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 9}},
}  # fmt: skip


@pytest.mark.parametrize("form", ["status", "body", "finish"])
@pytest.mark.parametrize("wire", SDKS)
async def test_a_filter_is_a_refused_answer_whether_it_comes_as_a_status_an_error_or_a_finish(
    wire: str, form: str
) -> None:
    said = {
        "status": answer({"error": FILTERED["error"]}, FILTERED["status"]),
        "body": answer({"error": {**FILTERED["error"], "code": "content_filter"}}),
        "finish": answer(REFUSED_ANSWERS[wire]),
    }[form]
    async with raw_server(said) as (addresses, server), client(wire, addresses) as model:
        reply = await model.complete(request(free=True))
        assert reply.finish is Finish.REFUSAL
        assert reply.usage.prompt > 0  # it may be charged for, so the books have it
        with pytest.raises(EmptyAnswer) as caught:
            await stack(model).complete(request())
    assert caught.value.cause == "refusal"
    assert len(server.asked) == 3  # once, and once again with more room


@pytest.mark.parametrize("reason", ["sensitive", "safety", "guardrail_intervened"])
async def test_the_finish_reasons_of_filters_of_other_services_are_refusals(reason: str) -> None:
    message = {"role": "assistant", "content": ""}
    body = completion(choices=[{"index": 0, "finish_reason": reason, "message": message}])
    async with raw_server(answer(body)) as (addresses, _), client("openai", addresses) as model:
        assert (await model.complete(request(free=True))).finish is Finish.REFUSAL

"""What a llama.cpp server is asked by `llm=llamacpp`, and what is made of what it says, over real HTTP.

Its words are those of build 11549, taken from the server of `xllamacpp` 2026.10 in November 2026.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from quorum.agents.llm.errors import AnswerInvalid, ContextOverflow
from quorum.agents.llm.protocol import Reply
from quorum.configuration.cell import Cell
from quorum.configuration.providers.config import ProviderConfig
from quorum.configuration.registry import providers
from quorum.episode.models import sampling_of
from tests.agents.llm.raw import Answer, answer, raw_server
from tests.agents.llm.wire import ANSWER, SCHEMA, TEXT, request, stack

OVERFLOW = {
    "error": {
        "code": 400,
        "message": "request (331 tokens) exceeds the available context size (256 tokens), try increasing it",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": 331,
        "n_ctx": 256,
    }
}


def said(**changes: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": TEXT}
    return {
        "choices": [{"finish_reason": "stop", "index": 0, "message": message, **changes}],
        "created": 1795401988,
        "model": "smollm2-135m-instruct.q4_1",
        "system_fingerprint": "b0-unknown",
        "object": "chat.completion",
        "usage": {
            "completion_tokens": 27,
            "prompt_tokens": 32,
            "total_tokens": 59,
            "prompt_tokens_details": {"cached_tokens": 20},
        },
        "id": "chatcmpl-l56zscr7spXJMTP7103bldI6VUBF6ypO",
        "timings": {"cache_n": 20, "prompt_n": 12, "prompt_ms": 372.845, "predicted_n": 27, "predicted_ms": 431.969},
    }


async def ask(*given: Answer, words: str = "") -> tuple[Reply, list[dict[str, Any]]]:
    """Ask a server by the preset; return the reply, and the bodies that the server got.

    The server says one thing after the other, and the last one from then on.
    """
    left = list(given)

    async def respond(_body: dict[str, Any], _writer: asyncio.StreamWriter) -> Answer:
        return left.pop(0) if len(left) > 1 else left[0]

    async with raw_server(respond) as (addresses, server):
        cell = Cell.compose(["agents=naive", "llm=llamacpp", f"llm.base_url={addresses.openai}", *words.split()])
        config = cell.configuration.llm_of("agent_0")
        assert isinstance(config, ProviderConfig)
        async with providers.get(config.name).build(config, None) as model:
            asked = replace(request(), sampling=sampling_of(config))
            return await stack(model).complete(asked), server.asked
    raise AssertionError


async def test_it_is_asked_by_the_schema_without_a_key_and_recorded_under_its_name() -> None:
    reply, asked = await ask(answer(said()))
    (body,) = asked
    assert (reply.value, reply.model, reply.simulated) == (ANSWER, "smollm2-135m-instruct.q4_1", False)
    assert (reply.usage.prompt, reply.usage.completion, reply.usage.cached) == (32, 27, 20)
    assert reply.usd is None
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert {name: body[name] for name in ("model", "max_tokens", "temperature")} == {
        "model": "llamacpp",
        "max_tokens": 1024,
        "temperature": 0.0,
    }


async def test_it_is_told_how_much_to_think_in_its_own_words() -> None:
    _, (body,) = await ask(answer(said()), words="llm.effort=low llm.thinking_tokens=64")
    assert body["chat_template_kwargs"]["enable_thinking"] is True
    assert body["thinking_budget_tokens"] == 64
    assert "reasoning_effort" not in body
    assert body["max_tokens"] == 1024 + 64


async def test_an_answer_that_fills_the_context_was_cut_off() -> None:
    given = answer(said(finish_reason="length", message={"role": "assistant", "content": TEXT[:-1]}))
    with pytest.raises(AnswerInvalid) as failed:
        await ask(given)
    assert "cut off" in failed.value.reasons[0]


async def test_a_prompt_that_is_longer_than_the_context_is_reported_in_its_words() -> None:
    with pytest.raises(ContextOverflow, match=r"331 tokens.*256 tokens"):
        await ask(answer(OVERFLOW, 400))


async def test_a_model_that_is_still_loaded_is_waited_for() -> None:
    busy = answer({"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}}, 503)
    reply, asked = await ask(busy, answer(said()))
    assert (reply.value, reply.attempts, len(asked)) == (ANSWER, 2, 2)

"""A real server at its limits: no room for a prompt or an answer, a longest answer, a call that nobody waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from maeil.trace import comparable
from quorum.agents.llm.protocol import ChatMessage, ChatRole, Finish, Request, Sampling
from quorum.agents.llm.providers.openai import OpenAIModel
from quorum.agents.llm.recording import CANCELLED
from tests.conftest import PATIENCE
from tests.real_model.serving import calls_of, is_busy, play, play_again, real_model

pytestmark = [pytest.mark.real_model, pytest.mark.xdist_group("limits of the real model")]

STORY = (ChatMessage(ChatRole.USER, "Tell me a long story about four robots and a warehouse."),)

LONGEST = 7000
"""Tokens of an answer that takes minutes."""


@pytest.fixture(scope="module")
def small() -> Iterator[str]:
    """Give the address of a model with a context of 1,024 tokens, in which no prompt of this test has room."""
    with real_model(1024) as address:
        yield address


def test_a_prompt_that_the_context_has_no_room_for_ends_the_episode_unfinished(small: str, tmp_path: Path) -> None:
    words = ("env=crafter_coop", "n=3", "prompts=default", "max_steps=3")
    result = play(small, tmp_path / "runs", *words)
    assert (result.outcome, result.metrics["outcome.success"]) == ("failure", False)
    assert result.reason.startswith("ContextExceeded: agent_")
    assert "exceeds the available context size (1024 tokens)" in result.reason
    assert {call["failure"]["kind"] for call in calls_of(result.folder)} == {"ContextOverflow"}
    again = play_again(result.folder, tmp_path / "again", *words)
    assert comparable(again.folder) == comparable(result.folder)


async def test_an_answer_ends_where_the_context_is_full() -> None:
    with real_model(256) as tiny:
        async with OpenAIModel("any", base_url=tiny, key_variable=None, deadline=300) as model:
            reply = await model.complete(Request(STORY, None, Sampling(0.0, 2048)))
    assert reply.finish is Finish.LENGTH
    assert reply.usage.prompt + reply.usage.completion == 256


def test_an_answer_that_is_cut_off_is_a_counted_failure(server: str, tmp_path: Path) -> None:
    words = ("env=squeeze", "n=1", "topology=individual", "llm.max_tokens=8", "max_repairs=1", "max_steps=1")
    result = play(server, tmp_path / "runs", *words)
    replies = [call["reply"] for call in calls_of(result.folder)]
    assert replies
    assert {(reply["finish"], reply["usage"]["completion"]) for reply in replies} == {("length", 8)}
    assert result.metrics["model.parse_failures"] > 0
    again = play_again(result.folder, tmp_path / "again", *words)
    assert comparable(again.folder) == comparable(result.folder)


async def test_a_call_that_is_cancelled_leaves_the_server_free(server: str) -> None:
    async with OpenAIModel("any", base_url=server, key_variable=None, deadline=300) as model:
        call = asyncio.create_task(model.complete(Request(STORY, None, Sampling(0.0, LONGEST))))
        await until(server, busy=True)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await until(server, busy=False)
        assert (await model.complete(Request(STORY, None, Sampling(0.0, 4)))).usage.completion == 4


def test_an_episode_that_reaches_its_limit_leaves_the_server_free(server: str, tmp_path: Path) -> None:
    words = ("env=squeeze", "n=3", f"llm.max_tokens={LONGEST}", "limits.episode_seconds=2", "max_steps=1")
    result = play(server, tmp_path, *words)
    assert result.outcome == "error"
    assert CANCELLED in {call["failure"]["kind"] for call in calls_of(result.folder) if "failure" in call}
    asyncio.run(until(server, busy=False))


async def until(address: str, *, busy: bool) -> None:
    """Wait until the server computes an answer, or none.

    It sees that nobody waits for an answer when it was left alone for a second: every question puts that off.
    """
    async with asyncio.timeout(PATIENCE):
        while is_busy(address) is not busy:
            await asyncio.sleep(0.1 if busy else 2.5)

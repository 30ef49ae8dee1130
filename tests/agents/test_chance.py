"""Answers that are drawn at random in a model's place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest

from quorum.agents.llm.embeddings import EMBEDDINGS, texts_to_embed
from quorum.agents.llm.errors import BadRequest
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Finish, Request, Sampling, Usage
from quorum.agents.simulated.chance import RandomModel

MANY = {"type": "integer", "minimum": 0, "maximum": 10**9}
SYSTEM = ChatMessage(ChatRole.SYSTEM, 'Go to "square_7".')


def request(schema: dict[str, Any] = MANY, text: str = "Go on.", **more: Any) -> Request:
    messages = (SYSTEM, ChatMessage(ChatRole.USER, text))
    return Request(messages, AnswerFormat("answer", schema), Sampling(0.0, 100), **more)


async def drawn(asked: Request, seed: int = 0) -> Any:
    return orjson.loads((await RandomModel(seed).complete(asked)).text)


async def test_equal_requests_get_equal_answers_and_all_others_their_own() -> None:
    again = replace(request(), agents=4, deadline=3.0)
    seeded = replace(request(), sampling=Sampling(0.0, 100, seed=1))
    answers = [await drawn(one) for one in (request(), request(text="Go."), request(sample=1), seeded)]
    assert len({*answers, await drawn(request(), seed=1)}) == 5
    assert await drawn(again) == answers[0]
    assert await drawn(replace(request(), sampling=Sampling(0.9, 1))) == answers[0], "it neither samples nor is cut off"


async def test_it_is_free_and_says_what_it_is() -> None:
    reply = await RandomModel(0).complete(request())
    assert (reply.model, reply.simulated, reply.usage, reply.usd) == ("chance", True, Usage(0, 0), 0.0)
    assert reply.finish is Finish.STOP


async def test_lists_are_short_and_a_joint_plan_has_room_for_its_agents() -> None:
    schema = {"type": "array", "items": {"type": "boolean"}, "maxItems": 8}
    for agents, longest in ((1, 3), (6, 6)):
        lengths = {len(await drawn(request(schema, sample=sample, agents=agents))) for sample in range(120)}
        assert lengths == set(range(longest + 1))


async def test_a_text_of_a_pattern_is_one_that_the_prompt_quotes_and_no_example() -> None:
    schema = {"type": "string", "pattern": r"^square_\d+$"}
    text = '{"at": "square_1", "to": ["square_22", "box"]}'
    found = {await drawn(request(schema, text, sample=number)) for number in range(40)}
    assert found == {"square_1", "square_22"}


async def test_free_text_is_refused() -> None:
    with pytest.raises(
        BadRequest,
        match=r"llm=random needs the schema of an answer, not free text: choose prompts=default",
    ):
        await RandomModel(0).complete(replace(request(), answer=None))


async def test_a_schema_that_nothing_fits_is_named() -> None:
    with pytest.raises(BadRequest, match="llm=random cannot draw from the schema 'answer'"):
        await RandomModel(0).complete(request({"type": "colour"}))


async def test_texts_are_embedded() -> None:
    reply = await RandomModel(0).complete(Request(texts_to_embed(["a", "b"]), EMBEDDINGS, Sampling(None, 1)))
    assert len(orjson.loads(reply.text)["embeddings"]) == 2

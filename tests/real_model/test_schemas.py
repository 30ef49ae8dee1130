"""llama.cpp's grammar takes the form of every turn and role in every world, also where it names what exists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
import pytest

from quorum.agents.llm.errors import BadRequest
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Request, Sampling, Structured
from quorum.agents.llm.providers.openai import OpenAIModel
from quorum.agents.naive.answers import AnswerTypes
from quorum.agents.prompting.schemas import compact, ground, tasks_of
from tests.agents.naive_team import view
from tests.prompts.test_frame import TURNS, WORLDS, forms, made

pytestmark = [pytest.mark.real_model, pytest.mark.xdist_group("schemas of the real model")]

TEAM = 4


def sent_forms(name: str) -> Iterator[Mapping[str, Any]]:
    """Give the forms of all turns and roles of a world, and what they are when they name what exists."""
    world = made(name, TEAM)
    types = AnswerTypes(world.vocabulary, 8)
    turns = [view(world, agent=2, **turn) for turn in TURNS]
    yield from (types.wanted(turn).schema for turn in turns)
    for turn in turns:
        whole = types.wanted(turn, grounded=True, world=world).schema
        yield ground(whole, world.ids(2), world.agents, tasks_of(world, 2, turn))
    for wanted, _ in forms(world).values():
        yield wanted.schema
        yield ground(wanted.schema, world.ids(None), world.agents, tasks_of(world, None, turns[0]))


async def ask(model: OpenAIModel, schema: Mapping[str, Any]) -> int:
    """Ask for the first token of an answer; return how often the server was asked."""
    question = (ChatMessage(ChatRole.USER, "Go."),)
    return (await model.complete(Request(question, AnswerFormat("answer", schema), Sampling(0.0, 1)))).attempts


@pytest.mark.parametrize("name", WORLDS)
async def test_the_grammar_takes_every_form(name: str, server: str) -> None:
    found = {orjson.dumps(sent): sent for sent in map(compact, sent_forms(name))}
    assert len(found) > len(TURNS)
    async with OpenAIModel("any", base_url=server, key_variable=None, structured=Structured.SCHEMA) as model:
        assert [await ask(model, sent) for sent in found.values()] == [1] * len(found)


async def test_the_grammar_refuses_a_form_that_it_cannot_bind(server: str) -> None:
    async with OpenAIModel("any", base_url=server, key_variable=None, structured=Structured.SCHEMA) as model:
        with pytest.raises(BadRequest):
            await ask(model, {"type": "object", "properties": {"a": {"$ref": "#/$defs/nowhere"}}, "required": ["a"]})

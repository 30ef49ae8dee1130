"""Caps of a form: what a small model never ends gets an end, and what a turn needs whole keeps its room."""

from __future__ import annotations

from typing import Any

import pytest

from quorum.agents.llm.caps import capped
from quorum.agents.llm.embeddings import EMBEDDINGS
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Request, Sampling

CAPS = Sampling(0.0, 512, longest_text=60, longest_list=3)
ENTRY = {"type": "object", "properties": {"agent": {"type": "string"}, "plan": {"type": "null"}}}
FORECAST = {"type": "object", "properties": {"agent": {"type": "string"}, "task": {"type": "null"}}}


def of(part: dict[str, Any], *, agents: int = 1, **definitions: Any) -> Any:
    """Return a part of a form as it is sent with caps."""
    schema = {"type": "object", "properties": {"part": part}, "$defs": definitions}
    request = Request((ChatMessage(ChatRole.USER, "?"),), AnswerFormat("form", schema), CAPS, agents=agents)
    sent = capped(request).answer
    assert sent is not None
    return sent.schema["properties"]["part"]


@pytest.mark.parametrize(
    ("part", "sent"),
    [
        ({"type": "string"}, {"maxLength": 60}),
        ({"type": "string", "maxLength": 400}, {"maxLength": 60}),
        ({"type": "string", "maxLength": 20}, {"maxLength": 20}),
        ({"type": "string", "minLength": 90}, {"maxLength": 90}),
        ({"type": "string", "enum": ["a" * 99]}, {}),
        ({"type": "string", "pattern": r"^\d{99}$"}, {}),
        ({"type": "array", "items": {"type": "integer"}}, {"maxItems": 3}),
        ({"type": "array", "items": {"type": "integer"}, "maxItems": 8}, {"maxItems": 3}),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 5}, {"maxItems": 5}),
        ({"type": "array", "prefixItems": [{"type": "integer"}] * 4}, {}),
    ],
    ids=str,
)
def test_texts_and_lists_are_as_short_as_the_caps_say_and_as_long_as_they_must_be(part: Any, sent: Any) -> None:
    assert of(part) == {**part, **sent}


def test_a_list_about_agents_has_a_place_for_each_that_is_asked_about() -> None:
    entries = {"type": "array", "items": {"$ref": "#/$defs/EntryAnswer"}}
    assert of(entries, agents=5, EntryAnswer=ENTRY)["maxItems"] == 5
    assert of(entries, agents=2, EntryAnswer=ENTRY)["maxItems"] == 3
    assert of({"type": "array", "items": FORECAST, "maxItems": 7})["maxItems"] == 7
    assert "maxItems" not in of({"type": "array", "items": FORECAST})  # of any number, whatever is planned


def test_a_list_of_names_can_hold_all_of_them() -> None:
    names = {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c", "d", "all"]}, "maxItems": 5}
    assert of(names)["maxItems"] == 5


def test_nullable_parts_are_capped_and_embeddings_are_not() -> None:
    assert of({"anyOf": [{"type": "string"}, {"type": "null"}]})["anyOf"][0]["maxLength"] == 60
    request = Request((ChatMessage(ChatRole.USER, "text"),), EMBEDDINGS, CAPS)
    assert capped(request) == request

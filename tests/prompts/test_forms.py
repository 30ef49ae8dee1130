"""The form of an answer as it is sent: shorter than the typed models write it, and it takes the same answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
import pytest
from anthropic import transform_schema

from maeil.errors import InvalidThought
from quorum.agents.coordination.asking import Misread
from quorum.agents.llm.providers.chat import is_strict
from quorum.agents.llm.validation import validator_of
from quorum.agents.naive.answers import AnswerTypes
from quorum.agents.prompting.answers import bounds_in_words, sent_bounds, united
from quorum.agents.prompting.instances import minimal_instance, random_instance
from quorum.agents.prompting.schemas import compact
from tests.agents.naive_team import view
from tests.prompts.test_frame import TURNS, WORLDS, forms, made


def whole_forms(name: str) -> list[Any]:
    """The forms of all turns and roles in a world, before they are sent."""
    world = made(name, 4)
    types = AnswerTypes(world.vocabulary, 8)
    turns = [types.wanted(view(world, agent=2, **turn)).schema for turn in TURNS]
    return [*turns, *(wanted.schema for wanted, _ in forms(world).values())]


@pytest.mark.parametrize("name", WORLDS)
def test_what_is_sent_takes_the_same_answers_in_fewer_characters(name: str) -> None:
    rng = np.random.default_rng(0)
    for whole in whole_forms(name):
        sent = compact(whole)
        assert len(orjson.dumps(sent)) < len(orjson.dumps(whole))
        for schema, other in ((whole, sent), (sent, whole)):
            for _ in range(2):
                answer = random_instance(schema, schema.get("$defs", {}), rng)
                spoilt = {**answer, "thoughts": 5}
                assert validator_of(other).reasons(spoilt) != ()
                for value in (answer, spoilt):
                    assert validator_of(other).reasons(value) == validator_of(schema).reasons(value)


@pytest.mark.parametrize("name", WORLDS)
def test_the_strict_modes_of_providers_take_what_is_sent(name: str) -> None:
    for whole in whole_forms(name):
        sent = compact(whole)
        assert is_strict(sent)
        assert transform_schema(dict(sent))["required"] == list(sent["properties"])


def test_the_form_of_a_team_takes_the_answer_of_each_role_with_null_for_the_keys_of_others() -> None:
    of_roles = forms(made("cube", 4))
    roles = ("explorer", "assessor", "actor")
    whole = united([of_roles[role][0] for role in roles])
    assert is_strict(compact(whole))
    for role in roles:
        wanted, reader = of_roles[role]
        answer = {**minimal_instance(wanted.schema), **({"issue": "x"} if role == "actor" else {})}
        nulls = dict.fromkeys(whole["properties"].keys() - answer.keys())
        for given in (answer, {**nulls, **answer}):
            assert validator_of(whole).reasons(given) == ()
            reader(given)
        with pytest.raises(Misread, match="Extra inputs"):
            reader({**answer, "choices" if role == "actor" else "issue": []})


def test_a_definition_stands_where_it_is_used_once_and_goes_where_it_is_not_used() -> None:
    text, number = {"type": "string"}, {"type": "integer"}
    schema = {
        "$defs": {"once": {"items": {"$ref": "#/$defs/inner"}}, "inner": text, "twice": number, "unused": text},
        "properties": {
            key: {"$ref": f"#/$defs/{name}"} for key, name in zip("abc", ["once", "twice", "twice"], strict=True)
        },
    }
    twice = {"$ref": "#/$defs/twice"}
    assert compact(schema) == {
        "$defs": {"twice": number},
        "properties": {"a": {"items": text}, "b": twice, "c": twice},
    }


def test_a_form_that_refers_to_itself_still_ends() -> None:
    circle = {"$defs": {"a": {"items": {"$ref": "#/$defs/b"}}, "b": {"items": {"$ref": "#/$defs/a"}}}}
    schema = {**circle, "properties": {"x": {"$ref": "#/$defs/a"}}}
    found = compact(schema)
    assert found["$defs"] == {"a": {"items": {"items": {"$ref": "#/$defs/a"}}}}
    assert compact({**circle, "type": "object"}) == {"type": "object"}


@pytest.mark.parametrize(
    ("field", "sent"),
    [
        ({"minimum": 1, "maximum": 10_000}, {"minimum": 1}),
        ({"minimum": 0}, {}),
        ({"minimum": 0, "maximum": 9}, {"minimum": 0, "maximum": 9}),
        ({"minimum": 2}, {"minimum": 2}),
        ({"exclusiveMinimum": 0}, {"exclusiveMinimum": 0}),
        ({"minimum": 5, "maximum": 1_000_000}, {"minimum": 5}),
    ],
)
def test_a_bound_that_no_plan_comes_near_is_neither_sent_nor_stated(
    field: dict[str, Any], sent: dict[str, Any]
) -> None:
    assert sent_bounds({"type": "integer", **field}) == sent
    assert bounds_in_words({"type": "integer", **field}) == ({} if sent == {"minimum": 1} else sent)


def test_a_bound_that_is_not_sent_holds() -> None:
    world = made("cube", 4)
    types, turn = AnswerTypes(world.vocabulary, 8), view(world, agent=2, **TURNS[0])
    plan = {"rationale": "", "task": None, "actions": [{"action": "idle", "steps": 10_001}]}
    answer = {"thoughts": "", "plan": plan}
    assert validator_of(types.wanted(turn).schema).reasons(answer) == ()
    with pytest.raises(InvalidThought, match="steps"):
        types.read(answer, turn)

"""Rules of structured answers: extraction, validation, repair."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from quorum.agents.llm import structured as extraction
from quorum.agents.llm.errors import AnswerInvalid, ServerFailed
from quorum.agents.llm.protocol import ChatRole, Finish
from quorum.agents.llm.structured import NoAnswer, Structuring, extract
from quorum.agents.llm.validation import UnsupportedSchema, Validator, validator_of
from quorum.agents.prompting.answers import checked
from tests.agents.llm.wire import ANSWER, SCHEMA, TEXT, Brain, reply, request

VALIDATOR = Validator(SCHEMA)


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"  \n{TEXT}\n",
        f"```json\n{TEXT}\n```",
        f"```\n{TEXT}\n```\nAnd that is it.",
        f"Sure! {TEXT} Good luck {{everyone}}.",
        f'First I thought of {{"plan": []}}, but I settled on {TEXT}',
        f"{TEXT}\n\n{TEXT}",
        f"```python\nprint(1)\n```\n```json\n{TEXT}\n```",
    ],
)
def test_the_one_object_that_fits_is_found(text: str) -> None:
    assert extract(text, VALIDATOR) == ANSWER


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("I would rather not.", "no JSON"),
        (TEXT[:-3], "no JSON"),
        (TEXT.replace("}]", "},]"), "no JSON"),
        (TEXT.replace("3", "NaN"), "no JSON"),
        ("[" * 100_000, "nested"),
        ("{" * 100_000, "no JSON"),
        ('{"a":' * 5_000, "no JSON"),
        ("[1]", "is no object"),
        ("null", "is no object"),
        (TEXT.replace("ready", "\\ud800"), "recorded"),
        (TEXT.replace("3", "1" + "0" * 30), "recorded"),
        (TEXT + TEXT.replace("3", "4"), "2 different"),
        (f'{TEXT[:-1]}, "extra": 1}}', "extra: is not known here"),
    ],
    ids=range(15),
)
def test_what_is_wrong_or_ambiguous_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(NoAnswer, match=reason):
        extract(text, VALIDATOR)


class Move(BaseModel, extra="forbid"):
    action: Literal["move"]
    direction: Literal["up", "down"]
    steps: int = Field(ge=1, le=9)


class Rest(BaseModel, extra="forbid"):
    action: Literal["wait"]
    reason: str | None = Field(default=None, max_length=5)


class Decision(BaseModel, extra="forbid"):
    plan: list[Move | Rest] = Field(max_length=2)
    tagged: Move | Rest = Field(discriminator="action")
    pair: tuple[int, float]
    more: dict[str, bool] = {}


GOOD: dict[str, Any] = {
    "plan": [{"action": "wait"}, {"action": "move", "direction": "up", "steps": 2}],
    "tagged": {"action": "wait", "reason": None},
    "pair": [1, 2.5],
    "more": {"a": True},
}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, None),
        ({"pair": [1, 2]}, None),
        ({"plan": GOOD["plan"] * 2}, "plan: has 4 items, at most 2"),
        ({"plan": [{"action": "fly"}]}, 'plan[0].action: "fly" is not "wait"'),
        ({"tagged": {"action": "fly"}}, 'tagged.action: "fly" is none of "move", "wait"'),
        ({"tagged": {}}, 'tagged.action: null is none of "move", "wait"'),
        ({"tagged": {"action": "move", "direction": "up", "steps": 10}}, "tagged.steps: 10 is not at most 9"),
        ({"tagged": {"action": "move", "direction": "left", "steps": 1}}, 'none of "up", "down"'),
        ({"tagged": {"action": "move", "direction": "up", "steps": True}}, "true is no integer"),
        ({"tagged": {"action": "move", "direction": "up", "steps": 1.5}}, "1.5 is no integer"),
        ({"tagged": {"action": "wait", "reason": "because"}}, "at most 5"),
        ({"tagged": {"action": "wait", "steps": 1}}, "tagged.steps: is not known here"),
        ({"pair": [1]}, "pair: has 1 items, at least 2"),
        ({"pair": ["1", 2.0]}, 'pair[0]: "1" is no integer'),
        ({"more": {"a": 1}}, "more.a: 1 is no boolean"),
        ({"plan": None}, "plan: null is no array"),
    ],
    ids=range(16),
)
def test_validation_agrees_with_pydantic_and_names_what_is_wrong(change: dict[str, Any], reason: str | None) -> None:
    value = {**GOOD, **change}
    reasons = validator_of(Decision.model_json_schema()).reasons(value)
    try:
        Decision.model_validate_json(json.dumps(value), strict=True)
    except ValueError:
        assert reasons
    else:
        assert reasons == ()
    assert reason is None or reason in "; ".join(reasons)


def test_a_whole_number_is_an_integer_however_it_is_written() -> None:
    assert VALIDATOR.reasons({"plan": [{"action": "move", "steps": 3.0}], "mood": ""}) == ()


def test_no_part_of_a_broken_object_is_taken_for_an_answer() -> None:
    loose = Validator({"type": "object"})
    for text in ('{"plan": {"a": 1}, ', 'So: {"plan": {"a": 1},} it is', '{"plan": "}", "b": {"a": 1} "c"}'):
        with pytest.raises(NoAnswer, match="no JSON"):
            extract(text, loose)


def test_a_missing_field_is_named() -> None:
    assert VALIDATOR.reasons({"mood": "x"}) == ("plan: is missing",)


def test_a_key_that_may_be_null_may_be_missing_at_any_depth() -> None:
    number = {"type": "object", "properties": {"timeout": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}}
    inner = {**number, "required": ["timeout"]}
    validator = Validator({"type": "object", "properties": {"inner": inner}, "required": ["inner"]})
    assert validator.reasons({"inner": {}}) == validator.reasons({"inner": {"timeout": None}}) == ()
    assert validator.reasons({}) == ("inner: is missing",)
    assert validator.reasons({"inner": {"timeout": "x"}}) != ()


@pytest.mark.parametrize(
    "schema", [{"if": {}}, {"properties": {"a": {"dependentRequired": {}}}}, {"$ref": "#/$defs/no"}]
)
def test_a_schema_that_cannot_be_checked_is_an_error_and_not_a_promise(schema: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedSchema):
        Validator(schema)


async def test_repairs_sum_tokens_money_and_tries_and_keep_what_was_rejected() -> None:
    brain = Brain(["nonsense", replace(reply('{"mood": 1}', usd=0.25), attempts=3), TEXT], usd=0.5)
    answer = await Structuring(brain, 2).complete(request())
    assert answer.value == ANSWER
    assert (answer.usage.prompt, answer.usage.completion) == (300, 60)
    assert answer.usd == 1.25
    assert (answer.attempts, answer.repairs) == (5, 2)
    assert [rejected.text for rejected in answer.rejected] == ["nonsense", '{"mood": 1}']
    assert answer.rejected[1].reasons == ("plan: is missing", "mood: 1 is no string")


async def test_money_of_a_repaired_answer_is_unknown_when_one_part_is() -> None:
    answer = await Structuring(Brain(["no", reply(TEXT, usd=0.5)]), 1).complete(request())
    assert answer.usd is None


async def test_the_model_sees_its_answer_and_the_reasons_and_only_the_last_of_them() -> None:
    brain = Brain(["first", "second", TEXT])
    await Structuring(brain, 2).complete(request())
    last = brain.asked[2].messages
    assert last[: len(request().messages)] == request().messages
    assert [message.role for message in last[2:]] == [ChatRole.ASSISTANT, ChatRole.USER]
    assert last[2].content.strip()
    assert "no JSON" in last[3].content
    assert "first" not in str(last)


async def test_no_more_repairs_than_allowed() -> None:
    brain = Brain("nonsense")
    with pytest.raises(AnswerInvalid) as caught:
        await Structuring(brain, 0).complete(request())
    assert len(brain.asked) == 1
    assert caught.value.reply.usage.completion == 20
    assert caught.value.reply.text == "nonsense"
    assert "no JSON" in caught.value.reasons[0]


@pytest.mark.parametrize("text", [TEXT, f" {TEXT}\n" + " " * 500, f"```json\n{TEXT}\n```", f"```json\n{TEXT}\n"])
async def test_a_whole_answer_that_ends_at_the_bound_is_an_answer(text: str) -> None:
    answer = await Structuring(Brain([replace(reply(text), finish=Finish.LENGTH)]), 1).complete(request())
    assert (answer.value, answer.repairs) == (ANSWER, 0)


@pytest.mark.parametrize("text", [TEXT[:-1], f"First: {TEXT}", f"{TEXT} or bet", "3", '"move"'])
async def test_an_answer_that_is_cut_off_or_may_go_on_is_not_taken(text: str) -> None:
    brain = Brain([replace(reply(text), finish=Finish.LENGTH), TEXT])
    answer = await Structuring(brain, 1).complete(request())
    assert answer.repairs == 1
    assert "256 tokens" in brain.asked[1].messages[-1].content


async def test_failures_of_the_network_are_not_repaired() -> None:
    with pytest.raises(ServerFailed):
        await Structuring(Brain([ServerFailed("x")]), 3).complete(request())


HARD = [
    '{"a":' + '"\\' * 500_000,
    '{"a":"\\' * 150_000,
    '{"a":' * 200_000,
    '{"a":' * 100_000 + '"\\' * 250_000,
    "{" + '"' * 999_999,
    "{" + '"a" ' * 250_000,
    "{x}" * 100_000,
    '{"a":1}' * 100_000,
    "".join(f'{{"a":{i}}}' for i in range(30_000)),
    "```\n" * 250_000,
    "```json\n{" * 100_000,
]


@pytest.mark.parametrize("text", HARD, ids=range(len(HARD)))
def test_a_megabyte_of_anything_is_searched_in_linear_time(text: str) -> None:
    """Where the time grew with the square of the length, the first of these took six hours."""
    with pytest.raises(NoAnswer):
        extract(text, VALIDATOR)


@given(st.text('{}"\\a', max_size=30))
def test_braces_end_where_a_reader_without_hurry_says(text: str) -> None:
    """The reference tries a string at every quotation mark, in time that grows with the square of the length."""
    depth, end = 0, len(text) + 1
    for token in re.finditer(r'[{}]|"(?:[^"\\]|\\.)*"', "{" + text):
        depth += {"{": 1, "}": -1}.get(token.group(), 0)
        if depth == 0:
            end = token.end()
            break
    assert extraction._end_of_braces("{" + text, 0) == end


@pytest.mark.parametrize("written", ["3.0", "3e0", "0.3e1", "3"])
def test_schema_and_reader_agree_on_whole_numbers(written: str) -> None:
    value = extract(TEXT.replace("3", written), VALIDATOR)
    assert json.dumps(value) == json.dumps(ANSWER)
    assert checked(Move, {"direction": "up", **value["plan"][0]}).steps == 3


@pytest.mark.parametrize("written", ["1e300", "-1e19", "9007199254740994.0", "2.5"])
def test_what_the_reader_takes_for_no_integer_fits_no_integer_of_a_schema(written: str) -> None:
    schema = {"type": "object", "properties": {"steps": {"type": "integer"}}}
    with pytest.raises(NoAnswer, match="no integer"):
        extract(f'{{"steps": {written}}}', Validator(schema))
    numbers = {"type": "object", "properties": {"steps": {"type": "number"}}}
    assert extract(f'{{"steps": {written}}}', Validator(numbers)) == {"steps": float(written)}


def test_true_and_one_are_different_answers() -> None:
    with pytest.raises(NoAnswer, match="2 different"):
        extract('{"a": true} or {"a": 1}', Validator({"type": "object"}))

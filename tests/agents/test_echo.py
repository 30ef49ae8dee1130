"""Answers that copy the example in the prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quorum.agents.llm.errors import BadRequest
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Request, Sampling
from quorum.agents.llm.recording import unfolded
from quorum.agents.llm.validation import validator_of
from quorum.agents.prompting.instances import minimal_instance
from quorum.agents.simulated.copying import copied
from quorum.agents.simulated.echo import EchoModel, find_example
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell

PUSH = {
    "type": "object",
    "properties": {
        "action": {"const": "push"},
        "block": {"enum": ["block_0", "block_1"]},
        "steps": {"type": "integer", "minimum": 1, "maximum": 9},
    },
    "required": ["action", "block", "steps"],
}
WAIT = {"type": "object", "properties": {"action": {"const": "wait"}}, "required": ["action"]}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "thoughts": {"type": "string", "maxLength": 5},
        "plan": {"anyOf": [{"$ref": "#/$defs/Plan"}, {"type": "null"}]},
        "note": {"type": "string"},
    },
    "required": ["thoughts", "plan"],
    "$defs": {
        "Plan": {
            "type": "object",
            "properties": {"actions": {"type": "array", "items": {"anyOf": [PUSH, WAIT]}, "maxItems": 2}},
            "required": ["actions"],
        }
    },
}
EXAMPLE = {"thoughts": "I see it.", "plan": {"actions": [{"action": "push", "block": "block_60", "steps": 7}]}}


def request(*texts: str, schema: dict[str, Any] = SCHEMA, **more: Any) -> Request:
    messages = tuple(ChatMessage(ChatRole.USER, text) for text in texts)
    return Request(messages, AnswerFormat("answer", schema), Sampling(0.0, 100), **more)


async def echoed(asked: Request, seed: int = 0) -> Any:
    return orjson.loads((await EchoModel(seed).complete(asked)).text)


def prompt(example: object = EXAMPLE) -> str:
    block = '<turn>\n{"you":"agent_0"}\n</turn>'
    return f"An example:\n{orjson.dumps(example).decode()}\n{block}\nAnswer."


async def test_it_copies_the_example_and_chooses_the_block() -> None:
    answers = [await echoed(request(prompt(), sample=sample)) for sample in range(20)]
    blocks = {answer["plan"]["actions"][0].pop("block") for answer in answers}
    assert blocks == {"block_0", "block_1"}, "the sample counts"
    assert all(
        answer == {"thoughts": "I see", "plan": {"actions": [{"action": "push", "steps": 7}]}} for answer in answers
    )
    chosen = {str(await echoed(request(prompt()), seed)) for seed in range(20)}
    assert len(chosen) == 2, "the seed counts"


def pushing(*blocks: str) -> dict[str, Any]:
    """Return the schema with other blocks."""
    schema: dict[str, Any] = orjson.loads(orjson.dumps(SCHEMA).replace(b'["block_0","block_1"]', orjson.dumps(blocks)))
    return schema


@given(st.lists(st.text(max_size=3), min_size=2, max_size=6, unique=True), st.data())
def test_all_agents_choose_the_same_block_in_every_action_and_keep_to_it(names: list[str], data: st.DataObject) -> None:
    """Whatever else a prompt says, and in whichever order it lists the blocks; without the first, another is next."""
    again = data.draw(st.permutations(names))
    plans = {**EXAMPLE, "plan": {"actions": [{"action": "push", "block": "block_60", "steps": 7}] * 2}}

    def block_of(blocks: Sequence[str], words: str) -> str:
        asked = request(prompt(plans), words, schema=pushing(*blocks))
        (block,) = {action["block"] for action in asyncio.run(echoed(asked))["plan"]["actions"]}
        return str(block)

    first = block_of(names, '<turn>\n{"you":"agent_1"}\n</turn>')
    assert block_of(again, '<turn>\n{"you":"agent_2"}\n</turn>') == first
    left = [name for name in again if name != first]
    kept = [name for name in names if name in {first, left[0]}]
    assert block_of(kept, "later") == first
    assert block_of(left, "when it is delivered") == block_of(sorted(left), "and again")


async def test_the_example_of_this_turn_counts_and_neither_data_nor_an_answer() -> None:
    earlier, data = {**EXAMPLE, "thoughts": "old"}, '<observation>\n{"thoughts":"data"}\n</observation>'
    asked = request(prompt(earlier), prompt() + "\n" + data)
    answered = ChatMessage(ChatRole.ASSISTANT, '{"thoughts":"mine"}')
    asked = replace(asked, messages=(*asked.messages, answered, ChatMessage(ChatRole.USER, "That is not valid.")))
    assert find_example(asked) == EXAMPLE


async def test_without_an_example_it_refuses() -> None:
    with pytest.raises(BadRequest, match=r"llm=echo cannot draw .* no worked example, so choose prompts=default"):
        await echoed(request("Answer."))


@pytest.mark.parametrize(
    ("example", "schema", "wanted"),
    [
        (3, {"type": "integer", "minimum": 5, "maximum": 5}, 5),
        (True, {"type": "integer", "minimum": 0, "maximum": 0}, 0),
        ("b", {"enum": ["a"]}, "a"),
        ("a", {"const": "a"}, "a"),
        (None, {"anyOf": [{"type": "null"}, {"type": "integer"}]}, None),
        ([1, 2, 3], {"type": "array", "items": {"type": "integer"}, "maxItems": 2}, [1, 2]),
        (["x"], {"type": "array", "items": {"const": "x"}, "minItems": 2}, ["x", "x"]),
        ({"a": 1, "b": 2}, {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"a": 1}),
        ("text", {"type": "string", "minLength": 6}, "text.."),
    ],
)  # fmt: skip
def test_what_the_schema_does_not_allow_is_replaced(example: Any, schema: dict[str, Any], wanted: Any) -> None:
    assert copied(example, schema, {}, minimal_instance) == wanted


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["thoughts", "plan", "actions"]), inner)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["thoughts", "plan", "actions"]), VALUES), st.integers(0, 9))
def test_whatever_the_example_is_the_answer_matches_its_schema(example: Any, seed: int) -> None:
    found = asyncio.run(echoed(request(prompt(example)), seed))
    assert validator_of(SCHEMA).reasons(found) == ()


def test_in_an_episode_every_plan_is_the_example_with_a_block_of_the_board(tmp_path: Path) -> None:
    words = ["n=1", "env.side=8", "env.blocks={1: 2}", "agents=naive", "llm=echo", "max_steps=30", "seed=0"]
    result = run_cell(Cell.compose(words), tmp_path)
    meta = orjson.loads((result.folder / "meta.json").read_bytes())
    assert (meta["models"], meta["simulated"]) == (["echo"], True)
    lines = (result.folder / "calls.jsonl").read_bytes().splitlines(keepends=True)
    plans = [orjson.loads(call["reply"]["text"])["plan"] for call in unfolded(lines)]
    assert plans
    shapes = [
        [{key: value for key, value in action.items() if key != "block"} for action in plan["actions"]]
        for plan in plans
    ]
    assert all(shape == shapes[0] for shape in shapes)
    blocks = [action.get("block") for plan in plans for action in plan["actions"]]
    assert len(set(blocks[:2])) == 1, "both actions of a plan are about the same block"


def test_a_team_of_echoes_delivers_blocks_that_need_both_without_a_word(tmp_path: Path) -> None:
    """Chance does not; so clearing such boards is no evidence of a mind."""
    words = ["n=2", "agents=naive", "topology=individual", "prompts=terse", "max_steps=100"]

    def cleared(llm: str) -> int:
        cells = (Cell.compose([*words, f"llm={llm}", f"seed={seed}"]) for seed in range(5))
        return sum(run_cell(cell, tmp_path).metrics["outcome.success"] == 1 for cell in cells)

    assert (cleared("echo") >= 3, cleared("random")) == (True, 0)

"""Probabilities of choices from tokens, against the exact ones of a random model of letters."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from math import isclose, log
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quorum.agents.llm.protocol import TokenLogprobs
from quorum.agents.llm.validation import validator_of
from quorum.what_if.choice.probabilities import Distribution, NoChoice, distribution, narrowed

BEGIN = '{"task":{"kind":"deliver","target":"'


def found(tokens: Sequence[TokenLogprobs], choices: Sequence[str]) -> Distribution:
    async def ask(asked: Sequence[str]) -> Sequence[TokenLogprobs]:
        assert set(asked) == set(choices), "it asks again"
        return tokens

    return asyncio.run(distribution(ask, choices))


def token(text: str, **top: float) -> TokenLogprobs:
    logs = {name: log(share) for name, share in top.items()}
    return TokenLogprobs(text, logs.get(text, 0.0), logs)


def forced(*texts: str) -> list[TokenLogprobs]:
    return [TokenLogprobs(text, 0.0, {text: 0.0}) for text in texts]


class Letters:
    """A model of letters: each has a probability that depends on all before it; answers are decoded by a schema."""

    def __init__(self, seed: int, *, raw: bool) -> None:
        self.seed, self.raw = seed, raw

    def letters(self, before: str) -> dict[str, float]:
        draws = random.Random(f"{self.seed} {before}")
        weights = {letter: draws.random() + 0.01 for letter in 'ab1"'}
        return {letter: weight / sum(weights.values()) for letter, weight in weights.items()}

    def probability(self, choice: str, choices: Sequence[str]) -> float:
        """Return the probability of a choice if each letter is drawn from those that the choices allow."""
        share, ends = 1.0, [f'{one}"' for one in choices]
        for place, letter in enumerate(f'{choice}"'):
            letters, begin = self.letters(choice[:place]), choice[:place]
            allowed = {end[place] for end in ends if end.startswith(begin) and len(end) > place}
            share *= letters[letter] / sum(letters[one] for one in allowed)
        return share

    async def ask(self, choices: Sequence[str]) -> Sequence[TokenLogprobs]:
        written, tokens = "", forced(BEGIN)
        while not written.endswith('"'):
            letters = self.letters(written)
            allowed = {f'{one}"'[len(written)] for one in choices if f'{one}"'.startswith(written)}
            if not self.raw:
                letters = {letter: letters[letter] for letter in allowed}
                letters = {letter: share / sum(letters.values()) for letter, share in letters.items()}
            chosen = max(allowed, key=lambda letter: letters[letter])
            logs = {letter: log(share) for letter, share in letters.items()}
            tokens.append(TokenLogprobs(chosen, logs[chosen], logs))
            written += chosen
        return tokens


NAMES = st.lists(st.text("ab1", min_size=1, max_size=4), min_size=2, max_size=6, unique=True)


@settings(deadline=None, max_examples=100)
@given(NAMES, st.integers(0, 999), st.booleans())
def test_the_shares_are_those_of_decoding_by_the_schema(choices: list[str], seed: int, raw: bool) -> None:
    model = Letters(seed, raw=raw)
    got = asyncio.run(distribution(model.ask, choices))
    for choice in choices:
        assert isclose(got.shares[choice], model.probability(choice, choices), rel_tol=1e-9)
    assert not got.bounded
    assert raw or isclose(got.listed, 1)


def test_tokens_of_several_letters_that_begin_before_the_value() -> None:
    start = forced('{"task":{"kind":"deliver","target":')
    tokens = [
        *start,
        *forced(' "block'),
        *forced("_"),
        token("0", **{"0": 0.2, "1": 0.5, "2": 0.1, "N": 0.2}),
        *forced('"}}'),
    ]
    got = found(tokens, ["block_0", "block_1", "block_2"])
    assert {name: round(share, 6) for name, share in got.shares.items()} == {
        "block_0": 0.25, "block_1": 0.625, "block_2": 0.125,
    }  # fmt: skip
    assert isclose(got.listed, 0.8)


def test_a_choice_that_is_not_listed_gets_the_last_listed_probability_and_is_named() -> None:
    tokens = [*forced(BEGIN), *forced("block_"), token("0", **{"0": 0.9, "7": 0.06, "N": 0.04}), *forced('"}}')]
    got = found(tokens, ["block_0", "block_1"])
    assert got.bounded == {"block_1"}
    assert isclose(got.shares["block_1"], 0.04 / 0.94)


def test_names_that_share_a_token_are_told_apart_by_the_next_one() -> None:
    tokens = [
        *forced(BEGIN, "block_"), token("1", **{"1": 0.6, "2": 0.3}), token('"}}', **{'"}}': 0.75, "0": 0.25}),
    ]  # fmt: skip
    got = found(tokens, ["block_1", "block_2", "block_10"])
    assert {name: round(share, 6) for name, share in got.shares.items()} == {
        "block_1": 0.5, "block_2": 0.333333, "block_10": 0.166667,
    }  # fmt: skip


def test_names_that_share_a_token_off_the_path_are_asked_for_alone() -> None:
    asked = []

    async def ask(choices: Sequence[str]) -> Sequence[TokenLogprobs]:
        asked.append(tuple(choices))
        if len(choices) == 3:
            return [*forced(BEGIN, "block_"), token("2", **{"2": 0.7, "1": 0.3}), *forced('"}}')]
        return [*forced(BEGIN, "block_", "1"), token("0", **{"0": 0.9, '"}}': 0.1}), *forced('"}}')]

    got = asyncio.run(distribution(ask, ["block_1", "block_2", "block_10"]))
    assert asked == [("block_1", "block_2", "block_10"), ("block_1", "block_10")]
    assert isclose(got.shares["block_10"], 0.27)
    assert isclose(got.shares["block_1"], 0.03)


@pytest.mark.parametrize(
    "tokens",
    [forced('{"plan":null}'), forced(BEGIN, 'tree_1"}}'), forced(BEGIN, "block_")],
    ids=["none", "other", "cut"],
)
def test_answers_that_show_no_choice(tokens: list[TokenLogprobs]) -> None:
    with pytest.raises(NoChoice):
        found(tokens, ["block_0", "block_1"])


def test_the_schema_ends_with_the_target_and_leaves_nothing_else_open() -> None:
    text, null = {"type": "string"}, {"type": "null"}
    task = {"type": "object", "properties": {"kind": text, "target": text}, "required": ["kind", "target"]}
    plan = {
        "type": "object",
        "properties": {"rationale": text, "task": {"anyOf": [task, null]}, "actions": {"type": "array"}},
    }
    message = {"type": "object", "properties": {"task": {"$ref": "#/$defs/Task"}}}
    schema = {
        "$defs": {"Task": task, "Plan": plan, "Message": message},
        "type": "object",
        "properties": {
            "thoughts": text,
            "asks": {"type": "array", "items": {"$ref": "#/$defs/Message"}},
            "messages": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/Message"}}, null]},
            "plan": {"anyOf": [{"$ref": "#/$defs/Plan"}, null]},
            "decision": null,
        },
    }
    got = narrowed(schema, "deliver", ["block_0", "block_1"])
    assert got is not None
    validator = validator_of(got)
    answer: dict[str, Any] = {
        "thoughts": "",
        "asks": [],
        "messages": None,
        "plan": {"rationale": "", "task": {"kind": "deliver", "target": "block_1"}},
    }
    assert list(got["properties"]) == ["thoughts", "asks", "messages", "plan"]
    assert not validator.reasons(answer)
    for changed in (
        {**answer, "thoughts": "why"}, {**answer, "messages": []}, {**answer, "asks": [{"task": None}]},
        {**answer, "plan": None},
        {**answer, "plan": {"rationale": "", "task": {"kind": "push", "target": "block_1"}}},
        {**answer, "plan": {"rationale": "", "task": {"kind": "deliver", "target": "block_2"}}},
    ):  # fmt: skip
        assert validator.reasons(changed)
    assert narrowed({"type": "object", "properties": {"thoughts": text}}, "deliver", ["a", "b"]) is None

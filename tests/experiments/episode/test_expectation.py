"""What is said before an episode asks a real model."""

from __future__ import annotations

import re

import pytest

from quorum.agents.llm.prices import find_price
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.episode import expectation as module
from quorum.experiments.episode.expectation import expectation
from quorum.experiments.episode.trial import SECONDS_PER_CALL

TEAM = ("agents=naive", "n=2", "max_steps=3", "llm=openai", "llm.model=gpt-5-mini")


def test_answers_tokens_money_and_time_are_told_of_a_model_that_is_not_simulated() -> None:
    told = expectation(Cell.compose(TEAM))
    found = re.fullmatch(
        r"expected: about (\d+) answers, ([\d,]+) tokens, \$([\d.e-]+), (\d+):(\d\d) "
        r"\(from an episode played with a simulated model; 3 s an answer are assumed\)",
        told,
    )
    assert found, told
    answers, tokens, usd = int(found[1]), int(found[2].replace(",", "")), float(found[3])
    price = find_price("openai", "gpt-5-mini")
    assert price is not None
    assert answers >= 2
    assert tokens > 1000 * answers
    assert tokens * price.input / 1e6 < usd < tokens * price.output / 1e6
    assert 60 * int(found[4]) + int(found[5]) >= SECONDS_PER_CALL * answers


def test_money_without_a_price_is_told_as_unknown() -> None:
    told = expectation(Cell.compose([*TEAM[:3], "llm=vllm", "llm.model=m"]))
    assert "tokens, unknown money (no price), " in told


@pytest.mark.parametrize(
    "words", [("agents=naive", "llm=simulated"), ("agents=heuristic", "llm=openai", "llm.model=m")]
)
def test_nothing_is_said_where_nothing_is_paid(words: tuple[str, ...]) -> None:
    assert expectation(Cell.compose(["n=2", "max_steps=3", *words])) == ""


def test_a_trial_that_takes_too_long_is_ended_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_TRIAL", 0.001)  # no machine plays 16 agents so fast
    told = expectation(Cell.compose(["agents=naive", "n=16", "topology=debate", *TEAM[3:], "max_steps=400"]))
    assert told.startswith("expected: more than "), told
    assert "from the beginning of an episode played with a simulated model" in told


def test_a_trial_that_cannot_be_played_is_told_as_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("no skills")

    monkeypatch.setattr(module, "tried", fails)
    assert expectation(Cell.compose(TEAM)).startswith("what the episode will take is not known: ")

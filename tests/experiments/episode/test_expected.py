"""What is said before an episode asks a real model."""

from __future__ import annotations

import re

import pytest

from quorum.agents.llm.prices import find_price
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.episode.expected import SECONDS_PER_CALL, Rest, expectation, expected

TEAM = ("agents=naive", "n=2", "max_steps=3", "llm=openai", "llm.model=gpt-5-mini")


def test_a_real_model_is_announced_with_answers_tokens_money_and_time() -> None:
    line = expectation(Cell.compose(TEAM))
    found = re.fullmatch(
        r"expected: about (\d+) answers, ([\d,]+) tokens, \$([\d.e-]+), (\d+):(\d\d) "
        r"\(from recorded episodes with the simulated model, at 3 s an answer\)",
        line,
    )
    assert found, line
    answers, tokens, usd = int(found[1]), int(found[2].replace(",", "")), float(found[3])
    price = find_price("openai", "gpt-5-mini")
    assert price is not None
    assert answers >= 1
    assert tokens > 1000 * answers
    assert tokens * price.input / 1e6 < usd < tokens * price.output / 1e6
    assert 60 * int(found[4]) + int(found[5]) >= SECONDS_PER_CALL * answers


def test_money_without_a_price_is_unknown() -> None:
    line = expectation(Cell.compose([*TEAM[:3], "llm=vllm", "llm.model=m"]))
    assert "tokens, unknown money (no price), " in line


@pytest.mark.parametrize(
    "words", [("agents=naive", "llm=simulated"), ("agents=heuristic", "llm=openai", "llm.model=m")]
)
def test_nothing_is_said_where_nothing_is_paid(words: tuple[str, ...]) -> None:
    assert expectation(Cell.compose(["n=2", "max_steps=3", *words])) == ""


def test_minds_without_figures_are_reported_as_unknown() -> None:
    cell = Cell.compose(TEAM)
    raw = {**cell.plain, "agents": {**cell.plain["agents"], "name": "thinker"}}
    assert expected(raw, uses_models=True) is None


def test_a_larger_team_and_a_longer_episode_take_more_in_proportion() -> None:
    words = ("env=squeeze", "agents=naive", "llm.usd_per_million_prompt=2")
    small, large, long = (
        expected(Cell.compose([*words, *more]).plain, uses_models=True)
        for more in (("n=3", "max_steps=30"), ("n=6", "max_steps=30"), ("n=3", "max_steps=60"))
    )
    assert small is not None
    assert small.answers > 0
    assert small.usd > 0
    assert large == long == small.times(2)


def test_an_episode_that_ends_by_itself_takes_no_more_with_a_later_limit() -> None:
    short, late = (
        expected(Cell.compose(["agents=naive", "n=2", f"max_steps={limit}"]).plain, uses_models=True)
        for limit in (400, 800)
    )
    assert short == late


def test_a_branch_takes_what_is_left_of_its_run() -> None:
    raw = Cell.compose(["agents=naive", "n=2"]).plain
    ten, twenty = (expected(raw, uses_models=True, rest=Rest(left)) for left in (10, 20))
    assert ten is not None
    assert ten.answers == pytest.approx(10, rel=0.5)
    assert twenty == ten.times(2)

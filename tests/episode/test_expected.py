"""What is said before an episode asks a real model."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import pytest

from quorum.agents.llm.prices import find_price
from quorum.configuration.cell import Cell
from quorum.episode.expected import SECONDS_PER_CALL, Rest, expectation, price
from quorum.episode.pilot import play_pilot

TEAM = ("agents=naive", "n=2", "max_steps=3", "llm=openai", "llm.model=gpt-5-mini")


def test_a_real_model_is_announced_with_answers_tokens_money_and_time() -> None:
    line = expectation(Cell.compose(TEAM))
    found = re.fullmatch(
        r"expected: about (\d+) answers, ([\d,]+) tokens, \$([\d.e-]+), (\d+):(\d\d) min "
        r"\(from a pilot with the simulated model, at 3 s an answer\)",
        line,
    )
    assert found, line
    answers, tokens, usd = int(found[1]), int(found[2].replace(",", "")), float(found[3])
    price = find_price("openai", "gpt-5-mini")
    assert price is not None
    assert answers >= 1
    assert tokens > 1000 * answers
    assert tokens * price.input / 1e6 < usd < tokens * price.output / 1e6
    # The two agents think at the same time, and each of their thoughts waits for the last.
    assert 60 * int(found[4]) + int(found[5]) >= SECONDS_PER_CALL * answers / 2


def test_money_without_a_price_is_unknown() -> None:
    line = expectation(Cell.compose([*TEAM[:3], "llm=vllm", "llm.model=m"]))
    assert "tokens, unknown money (no price: set llm.prices=" in line


@pytest.mark.parametrize(
    "words", [("agents=naive", "llm=simulated"), ("agents=heuristic", "llm=openai", "llm.model=m")]
)
def test_nothing_is_said_where_nothing_is_paid(words: tuple[str, ...]) -> None:
    assert expectation(Cell.compose(["n=2", "max_steps=3", *words])) == ""


def test_a_branch_takes_what_is_left_of_its_run_in_proportion_to_thoughts() -> None:
    ten, forty = (expectation(Cell.compose(TEAM), Rest(left)) for left in (10, 40))
    answers = [int(line.split()[2]) for line in (ten, forty)]
    assert answers[0] >= 10
    assert answers[1] == pytest.approx(4 * answers[0], rel=0.2)


def test_a_conversation_is_played_like_any_other_episode() -> None:
    assert " answers, " in expectation(Cell.compose([*TEAM, "agents.memory=conversation"]))


def test_a_pilot_that_is_stopped_is_extrapolated_in_proportion_to_its_steps_within_the_budget() -> None:
    cell = Cell.compose(["env=squeeze", "agents=naive", "n=2", "max_steps=30"])
    ticks = itertools.count()
    whole = play_pilot(cell, math.inf)
    stopped = play_pilot(cell, 20, lambda: next(ticks))
    assert whole is not None
    assert stopped is not None
    assert (whole.whole, stopped.whole) == (True, False)
    assert 0 < stopped.steps < 30
    assert stopped.extrapolated(cell.plain).answers == pytest.approx(whole.taken.answers, rel=0.3)
    bounded = Cell.compose(["env=squeeze", "agents=naive", "n=2", "max_steps=30", "budget.tokens=9000"])
    assert stopped.extrapolated(bounded.plain).tokens == pytest.approx(9000)


def test_a_pilot_asks_nobody_and_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    closed = ("llm.base_url=http://127.0.0.1:9/v1", "llm.api_key_env=null", "llm.cache=true")
    for model in (("llm=vllm", "llm.model=m", *closed), ("llm=simulated", "llm.cache=true", "llm.latency=60")):
        pilot = play_pilot(Cell.compose(["agents=naive", "n=2", "max_steps=2", *model]), math.inf)
        assert pilot is not None
        assert pilot.taken.answers > 0
    assert list(tmp_path.iterdir()) == []


def test_the_prices_of_all_models_of_a_team_count() -> None:
    cheap, dear = "llm.prices={input: 1, output: 1}", "llm.agents.agent_1.prices={input: 9, output: 9}"
    words = ("env=squeeze", "agents=naive", "n=2", "max_steps=3", "llm=vllm", "llm.model=m", cheap)
    found = []
    for more in ((), (dear,)):
        cell = Cell.compose([*words, *more])
        pilot = play_pilot(cell, math.inf)
        assert pilot is not None
        found.append(price(cell.configuration, pilot.taken))
    assert found[0].usd == pytest.approx(found[0].tokens / 1e6)
    assert found[1].usd == pytest.approx(5 * found[0].usd, rel=0.2)
    unknown = Cell.compose([*words, "llm.agents.agent_1.model=other"])
    assert price(unknown.configuration, pilot.taken).priceless

"""What a sweep takes is seen in pilots of its kinds, and extrapolated where their time is short."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from quorum.agents.llm.spending import Spent
from quorum.configuration.cell import Cell
from quorum.episode.pilot import Pilot, Taken
from quorum.episode.planned_cell import PlannedCell
from quorum.episode.runner import run_cell
from quorum.runs.finished import finished_cell
from quorum.sweeps.command import show_plan
from quorum.sweeps.pilots import EXTRAPOLATED, PARTIAL, PLAYED, Pilots, law
from quorum.sweeps.plan import plan
from quorum.sweeps.run import SweepRequest

NEAR = 0.3
"""What an estimate may be off by."""
ONE = Taken(answers=100, prompt=1000, completion=100, usd=1.0, thoughts=100, chain=100, seconds=1.0, steps=10)


def played(words: Sequence[str], out: Path) -> Spent:
    return sum((finished_cell(run_cell(cell.cell(), out).folder).spent for cell in plan(words).cells), Spent())


def counted(thoughts: int) -> Pilots:
    """Give pilots whose clock is the thoughts of their episodes, so that the same is played on every machine."""
    ticks = itertools.count()
    return Pilots(5.0, lambda: 5.0 * next(ticks) / thoughts)


@pytest.mark.parametrize(
    "words",
    [
        (
            "env=squeeze agents=llamac llm=simulated_faults topology=centralized topology.leader=coordinator "
            "topology.rounds=3 n=50 max_steps=8 env.rho=null"
        ),
        "experiment=emcoop_cube llm=simulated_faults n=3 env.level=easy,medium seed=0",
        "experiment=llamac_table2 n=4 seed=0,1",
        "n=2,16 agents=naive topology=individual,decentralized seed=0 max_steps=10",
    ],
    ids=["squeeze", "rq2", "table 2", "teams of 2 and 16"],
)
def test_the_estimate_is_near_what_is_played(words: str, tmp_path: Path) -> None:
    expected = show_plan(SweepRequest(tuple(words.split()), tmp_path / "runs", "s"))
    spent = played(words.split(), tmp_path)
    assert expected.answers == pytest.approx(spent.answers, rel=NEAR)
    assert expected.tokens == pytest.approx(spent.tokens, rel=NEAR)
    assert expected.usd == pytest.approx(spent.usd, rel=NEAR)


def test_prompts_that_the_simulated_model_cannot_read_are_estimated_by_those_it_can(tmp_path: Path) -> None:
    """Else every answer of the pilot is refused, and counts three times in each step."""
    team = ("n=2", "agents=naive", "topology=debate", "llm=openai", "llm.model=gpt-4o", "max_steps=30", "seed=0,1")
    short, terse = (show_plan(SweepRequest((*team, f"prompts={name}"), tmp_path)) for name in ("short", "terse"))
    assert (short.answers, short.tokens) == (terse.answers, terse.tokens)
    assert short.sources == {PLAYED: 2}


def test_where_answers_do_not_grow_with_the_team_they_are_not_scaled_with_it(tmp_path: Path) -> None:
    team = ("env=squeeze", "agents=llamac", "topology=centralized", "topology.leader=coordinator", "topology.rounds=3")
    words = [*team, "max_steps=4", "n=4,8,50", "seed=0"]
    cells = plan(words).cells
    pilots = counted(150)
    pilots.play(cells)
    guesses = {cell.name: guess for cell in cells if (guess := pilots.expected(cell)) is not None}
    assert [guess.source for guess in guesses.values()] == [PLAYED, PLAYED, EXTRAPOLATED]
    alone = played([*words[:-2], "n=50", "seed=0"], tmp_path)
    assert list(guesses.values())[-1].taken.answers == pytest.approx(alone.answers, rel=NEAR)
    assert list(guesses.values())[-1].taken.tokens == pytest.approx(alone.tokens, rel=NEAR)


def test_the_law_is_the_power_of_the_size_through_the_two_nearest_sizes() -> None:
    double, half = (replace(ONE.times(share), steps=10) for share in (2, 0.5))
    assert law(50, {10: ONE, 20: ONE}) == ONE
    assert law(40, {10: ONE, 20: double}).answers == pytest.approx(400)
    assert law(40, {1: double, 10: half, 20: ONE}).answers == pytest.approx(200)
    assert law(40, {10: ONE}).answers == pytest.approx(400)
    assert law(40, {10: replace(ONE, usd=0.0), 20: replace(ONE, usd=0.0)}).usd == 0
    assert law(40, {10: ONE, 20: ONE.times(2)}, max_steps=20).answers == pytest.approx(200)


def test_every_board_that_is_played_counts_once_and_further_ones_are_played_until_the_sum_is_certain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names: list[str] = []

    def play(cell: Any, *_: object) -> Any:
        names.append(cell.name)
        return Pilot(ONE.times(1 + cell.seed % 2), 5, whole=True)

    monkeypatch.setattr("quorum.sweeps.pilots.play_pilot", play)
    few, many = (plan(["agents=naive", "n=2", f"seed=range(0,{number})"]).cells for number in (4, 300))
    pilots = Pilots()
    pilots.play(few)
    assert sorted(names) == sorted(cell.name for cell in few)  # all four, as the sum of fewer is too uncertain
    guess = pilots.expected(few[0])
    assert guess is not None
    assert guess.taken.answers == 150
    names.clear()
    pilots.play(few)
    assert names == []
    other = Pilots()
    other.play(many)
    assert len(set(names)) == len(names)
    assert 20 < len(names) < 200


def test_a_large_grid_of_many_kinds_takes_no_longer_than_the_bound() -> None:
    ticks = itertools.count()
    cells = plan(["env=squeeze", "agents=naive", "max_steps=2", "n=2,3", "llm.seed=range(0,20)"]).cells
    pilots = Pilots(40.0, lambda: float(next(ticks)))
    pilots.play(cells)
    assert next(ticks) < 120
    sources = [guess.source for cell in cells if (guess := pilots.expected(cell)) is not None]
    assert len(sources) == 40
    assert set(sources) == {PARTIAL, EXTRAPOLATED}


def test_no_team_is_left_unknown_because_pilots_of_others_took_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    time = 0.0

    def play(_: object, seconds: float, *__: object) -> Pilot:
        nonlocal time
        time += seconds
        return Pilot(ONE.times(seconds), 5, whole=False)

    monkeypatch.setattr("quorum.sweeps.pilots.play_pilot", play)
    teams = ["topology=individual,debate,centralized,decentralized", "agents=naive,llamac,dytopo", "seed=0"]
    cells = plan([*teams, "env=squeeze,transport"]).cells
    pilots = Pilots(10.0, lambda: time)
    pilots.play(cells)
    assert all(pilots.expected(cell) is not None for cell in cells)
    assert time <= 10 + 0.25 * len(cells)


def test_a_stopped_episode_is_expected_to_end_as_often_as_other_episodes_of_its_world(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def play(cell: Cell, *_: object) -> Pilot:
        whole = cell.configuration.topology.name == "debate"
        return Pilot(ONE, 10, whole=whole)

    monkeypatch.setattr("quorum.sweeps.pilots.play_pilot", play)
    cells = plan(["topology=individual,debate", "agents=naive", "seed=0", "max_steps=1000"]).cells
    pilots = Pilots(10.0)
    pilots.play(cells)
    steps = [guess.taken.steps for cell in cells if (guess := pilots.expected(cell)) is not None]
    assert sorted(steps) == pytest.approx([10, 30])  # one end in 20 steps: 20 more on average


def test_a_stopped_episode_is_expected_to_reach_its_other_goals_as_fast_as_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shares = iter([0.5, 0.1])
    monkeypatch.setattr(
        "quorum.sweeps.pilots.play_pilot",
        lambda *_: Pilot(ONE, 10, whole=False, reached=next(shares)),
    )
    cells = plan(["topology=individual,debate", "agents=naive", "seed=0", "max_steps=60"]).cells
    pilots = Pilots(10.0)
    pilots.play(cells)
    steps = [guess.taken.steps for cell in cells if (guess := pilots.expected(cell)) is not None]
    assert sorted(steps) == pytest.approx([20, 60])  # all goals in twice the time; no more than the limit


def test_without_time_nothing_is_played_and_nothing_is_known() -> None:
    cells: tuple[PlannedCell, ...] = plan(["agents=naive", "n=2"]).cells
    pilots = Pilots(0.0)
    pilots.play(cells)
    assert pilots.expected(cells[0]) is None


class TestTime:
    WORDS = (
        "env=squeeze", "agents=naive", "n=3", "max_steps=2", "llm=vllm", "llm.model=m", "seed=range(0,6)",
        "llm.prices={input: 1, output: 1}",
    )  # fmt: skip

    def seconds(self, tmp_path: Path, *words: str) -> tuple[float, float, float]:
        found = show_plan(SweepRequest((*self.WORDS, *words), tmp_path, "s"))
        return found.seconds, found.answers, found.tokens

    def test_answers_wait_for_the_slots_that_there_are(self, tmp_path: Path) -> None:
        one, answers, _ = self.seconds(tmp_path, "llm.max_concurrency=1")
        many, _, _ = self.seconds(tmp_path, "llm.max_concurrency=1000")
        assert one == pytest.approx(3 * answers)
        assert many < one / 4  # episodes at once, and their agents

    def test_requests_and_tokens_a_minute_bound_it(self, tmp_path: Path) -> None:
        requests, answers, _ = self.seconds(tmp_path, "llm.requests_per_minute=2")
        tokens, _, read = self.seconds(tmp_path, "llm.tokens_per_minute=100")
        assert requests == pytest.approx(30 * answers)
        assert tokens == pytest.approx(0.6 * read)

"""Episodes and draws of one board are other samples of a simulated model; each of them repeats byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maeil.trace import comparable
from quorum.configuration.cell import Cell
from quorum.configuration.providers.config import ProviderConfig
from quorum.configuration.schema import MOST_DRAWS
from quorum.episode.building import build_topology
from quorum.episode.draws import request_draw
from quorum.episode.models import first_sample, sampling_of
from quorum.episode.runner import run_cell

TEAMS = (
    ("env=cube", "agents=naive", "n=8"),
    ("env=transport", "env.view=board", "agents=naive", "n=8"),
    ("env=squeeze", "agents=naive", "n=2"),
    ("env=crafter_coop", "agents=naive", "n=2"),
    ("env=cube", "agents=cmas", "topology=centralized", "topology.leader=coordinator", "topology.rounds=1", "n=8"),
)


def trace(out: Path, *words: str) -> tuple[bytes, ...]:
    return tuple(comparable(run_cell(Cell.compose(["seed=3", "max_steps=25", *words]), out).folder))


@pytest.mark.parametrize("team", TEAMS, ids=" ".join)
def test_three_episodes_of_a_board_differ_and_each_repeats(team: tuple[str, ...], tmp_path: Path) -> None:
    episodes = [trace(tmp_path, *team, f"episode={episode}") for episode in range(3)]
    assert len(set(episodes)) == 3
    assert trace(tmp_path / "again", *team, "episode=1") == episodes[1]


@pytest.mark.parametrize("team", [TEAMS[0], ("agents=negotiator", "agents.noise=0.5", "n=4")], ids=" ".join)
def test_three_draws_meet_one_board_and_differ_and_each_repeats(team: tuple[str, ...], tmp_path: Path) -> None:
    draws = [trace(tmp_path, *team, f"draw={draw}") for draw in range(3)]
    assert len(set(draws)) == 3
    assert len({json.dumps(json.loads(lines[0])["board"]) for lines in draws}) == 1
    assert trace(tmp_path / "again", *team, "draw=1") == draws[1]


def test_a_topology_that_draws_its_edges_draws_them_again() -> None:
    graph = [
        build_topology(Cell.compose(["agents=naive", "topology=random", f"draw={draw}"]).configuration, 4)
        for draw in (0, 1)
    ]
    assert graph[0]._seeds.integer() != graph[1]._seeds.integer()  # type: ignore[attr-defined] # topologies.dytopo


Draw = tuple[int, int, int]
DRAW = st.tuples(st.integers(0, 999_999), st.integers(0, MOST_DRAWS - 1), st.integers(0, MOST_DRAWS - 1))
"""An episode of a line, the draw of its configuration, and that of its branch; small ones as well."""
SMALL = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))


@given(one=DRAW | SMALL, other=DRAW | SMALL, samples=st.tuples(st.integers(0, 999), st.integers(0, 999)))
def test_no_sample_of_a_prompt_is_one_of_another_episode_draw_or_branch(
    one: Draw, other: Draw, samples: tuple[int, int]
) -> None:
    numbers = [first_sample(e, request_draw(d, b)) + k for (e, d, b), k in zip((one, other), samples, strict=True)]
    assert max(numbers) < 2**63  # as records of calls keep it
    assert (numbers[0] == numbers[1]) == ((one, samples[0]) == (other, samples[1]))
    if one[1] == 0:
        assert request_draw(0, one[2]) == one[2]  # as before there were draws


def test_each_draw_has_its_own_sampling_seed_and_the_first_that_of_the_configuration() -> None:
    config = Cell.compose(["agents=naive", "llm.sampling_seed=7"]).configuration.llm
    assert isinstance(config, ProviderConfig)
    seeds = [sampling_of(config, request_draw(draw, branch)).seed for draw in range(3) for branch in range(3)]
    assert seeds[0] == 7
    assert len(set(seeds)) == 9


def test_the_cache_gives_no_draw_the_answers_of_an_earlier_one(tmp_path: Path) -> None:
    words = ["llm.cache=true", f"llm.cache_path={tmp_path / 'cache'}", *TEAMS[0], "max_steps=10"]
    cached = []
    for draw in (0, 1, 0):
        result = run_cell(Cell.compose([*words, f"draw={draw}"]), tmp_path / str(len(cached)))
        cached.append(result.metrics["model.cached_answers"] == result.metrics["model.answers"])
        assert cached[-1] or result.metrics["model.cached_answers"] == 0
    assert cached == [False, False, True]


def test_each_sampling_seed_makes_another_draw(tmp_path: Path) -> None:
    assert len({trace(tmp_path, *TEAMS[0], f"llm.sampling_seed={seed}") for seed in ("null", "1", "2")}) == 3


def test_at_temperature_0_all_episodes_go_by_the_rules(tmp_path: Path) -> None:
    assert len({trace(tmp_path, *TEAMS[0], "llm.temperature=0", f"episode={episode}") for episode in range(2)}) == 1

"""Episodes and draws of one board are other samples of a simulated model; each of them repeats byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from maeil.trace import comparable
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.episode.runner import run_cell

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


def test_each_sampling_seed_makes_another_draw(tmp_path: Path) -> None:
    assert len({trace(tmp_path, *TEAMS[0], f"llm.sampling_seed={seed}") for seed in ("null", "1", "2")}) == 3


def test_at_temperature_0_all_episodes_go_by_the_rules(tmp_path: Path) -> None:
    assert len({trace(tmp_path, *TEAMS[0], "llm.temperature=0", f"episode={episode}") for episode in range(2)}) == 1

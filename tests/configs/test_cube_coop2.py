"""EmCoop's board as an option of the group `env`, which also sets the knobs that all groups share."""

from __future__ import annotations

from pathlib import Path

import pytest

from cube_env.world import CubeConfig
from quorum.comparison import Question, compare
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.runs import read_results
from quorum.sweeps.experiment_file import load
from quorum_base.user_errors import UserError
from tests.folders import outcome, write_run


def test_it_sets_board_team_and_horizon() -> None:
    c = Cell.compose(["env=cube_coop2"]).configuration
    assert isinstance(c.env, CubeConfig)
    assert (c.n, c.max_steps) == (c.env.n, c.env.max_steps) == (3, 50)
    assert (c.env.side, c.env.blocks) == (15, {1: 3, 2: 3, 3: 3})
    usual = Cell.compose(["env=cube"]).configuration.env
    assert isinstance(usual, CubeConfig)
    assert (c.env.step_cost, c.env.deliver_reward) == (usual.step_cost, usual.deliver_reward)


@pytest.mark.parametrize("order", [1, -1])
def test_overrides_win_wherever_they_stand(order) -> None:
    c = Cell.compose(["env=cube_coop2", "n=6", "max_steps=80", "env.side=16"][::order]).configuration
    assert isinstance(c.env, CubeConfig)
    assert (c.n, c.env.n, c.max_steps, c.env.max_steps, c.env.side) == (6, 6, 80, 80, 16)


def test_the_heuristic_plays_it(tmp_path) -> None:
    result = run_cell(Cell.compose(["env=cube_coop2", "agents=heuristic", "n=6", "seed=1"]), tmp_path)
    assert result.outcome in ("success", "truncated")
    assert result.metrics["outcome.goals"] == 9
    assert result.metrics["outcome.reached"] >= 1


def test_levels_name_the_blocks_and_stand_for_nothing_else() -> None:
    def blocks(*words: str) -> object:
        return Cell.compose(["env=cube_coop2", *words]).plain["env"]["blocks"]

    assert blocks("env.level=hard") == {"1": 1, "2": 2, "3": 6}
    assert blocks("env.level=null", "env.blocks={1: 9}") == {"1": 9}
    assert blocks("env.blocks={1: 3, 2: 3, 3: 3}") == blocks()
    for wrong in ("env.blocks={1: 9}", "env.layout=congestion"):
        with pytest.raises(UserError, match=r"env\.level=null"):
            blocks(wrong)
    with pytest.raises(UserError, match="easy"):
        blocks("env.level=harder")


@pytest.mark.parametrize(("name", "levels"), [("cube", "easy medium hard"), ("crafter", "emcoop_easy emcoop_hard")])
def test_difficulty_is_a_factor_of_emcoops_experiments(name: str, levels: str, tmp_path: Path) -> None:
    grid = load(f"emcoop_{name}").grid
    swept = next(word for word in grid if word.startswith("env.level="))
    assert swept.removeprefix("env.level=").split(",") == levels.split()
    env = {"cube": "cube_coop2", "crafter": "crafter_coop"}[name]
    for place, level in enumerate(levels.split()):
        values = Cell.compose([f"env={env}", f"env.level={level}", "n=3"]).plain["env"]
        write_run(tmp_path, outcome(steps=place), name=level, seed=place, env__level=values["level"])
    found = compare([read_results(tmp_path)], Question(by=["topology"], across="difficulty"))
    assert found.across == "env.level"
    assert set(found.points) == set(levels.split())  # compared, not pooled

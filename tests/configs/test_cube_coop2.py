"""EmCoop's board as an option of the group `env`, which also sets the knobs that all groups share."""

from __future__ import annotations

import pytest

from cube_env.world import CubeConfig
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.episode.runner import run_cell


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
    assert result.outcome in ("completed", "limit")
    assert result.metrics["outcome.goals"] == 9
    assert result.metrics["outcome.reached"] >= 1

"""Rewards by name: in the world, around a PettingZoo environment, and of one's own."""

import pytest
from pettingzoo.test import parallel_api_test
from pydantic import ValidationError

from cube_env import CubeEnv, Layout, ShapedEnv, WorldError, get_distance, potential_reward, register_reward
from cube_env.rewards import reward_function, reward_names
from tests.cube_env.acting import world
from tests.cube_env.boards import board

BOARD = "0A..|\n1...|\n....|"


def rewards(name, *joints):
    cube = world(BOARD, reward=name)
    return [cube.step(joint).reward for joint in joints]


def test_the_default_is_the_reward_of_the_rules():
    assert rewards("default", [4, 0], [4, 0], [4, 0]) == pytest.approx([-0.01, -0.01, 0.49])


def test_progress_pays_for_each_cell_that_weight_comes_nearer():
    assert rewards("progress", [0, 0], [4, 0], [4, 0], [4, 0]) == pytest.approx([-0.01, 0.04, 0.04, 0.54])


def test_alignment_pays_for_agents_that_come_to_a_left_face_and_takes_back_when_they_leave():
    assert rewards("alignment", [2, 0], [3, 0]) == pytest.approx([-0.01, -0.01])
    assert rewards("alignment", [0, 0], [1, 0]) == pytest.approx([-0.01, -0.01])
    away_and_back = rewards("alignment", [4, 4], [4, 4])
    assert sum(away_and_back) == pytest.approx(-0.02)
    cube = world(".0A..|\n1....|", reward="alignment")
    assert cube.step([3, 0]).reward == pytest.approx(-0.01 - 0.05)
    assert cube.step([4, 0]).reward == pytest.approx(-0.01 + 0.05)


def test_shaping_adds_up_to_the_change_of_its_potential():
    cube = world(BOARD, reward="progress")
    total = sum(cube.step(joint).reward for joint in ([4, 0], [0, 1], [4, 0], [4, 0]))
    assert total == pytest.approx(4 * -0.01 + 0.5 + 0.1 * 3 / 2)


def test_an_unknown_reward_is_refused_with_the_names():
    with pytest.raises(
        ValidationError, match=r"unknown reward 'progres', did you mean 'progress'\?.*default, progress"
    ):
        world(BOARD, reward="progres")
    with pytest.raises(WorldError, match="The rewards are: default"):
        reward_function("zzz")


def test_a_reward_of_ones_own_is_chosen_by_its_name(monkeypatch):
    monkeypatch.setattr("cube_env.rewards._REWARDS", {})

    def closeness(snapshot):
        return -float(get_distance(snapshot, "agent_0", "goal"))

    register_reward("close", potential_reward(closeness))
    assert reward_names() == ("close",)
    assert rewards("close", [2, 0], [0, 0], [3, 0]) == pytest.approx([-0.01] * 3)
    with pytest.raises(WorldError, match="already"):
        register_reward("close", potential_reward(closeness))


def test_a_pettingzoo_environment_can_be_shaped():
    env = ShapedEnv(CubeEnv(layout=Layout.parse(board(BOARD))), "progress")
    env.reset(seed=0)
    _, paid, *_ = env.step({"agent_0": 4, "agent_1": 0})
    assert paid == pytest.approx({"agent_0": 0.04, "agent_1": 0.04})
    plain = ShapedEnv(CubeEnv(n=2), "default")
    plain.reset(seed=0)
    assert plain.step({"agent_0": 0, "agent_1": 0})[1] == {"agent_0": -0.01, "agent_1": -0.01}


@pytest.mark.filterwarnings("ignore")
def test_a_shaped_environment_passes_pettingzoos_test():
    parallel_api_test(ShapedEnv(CubeEnv(n=2), "alignment"), num_cycles=20)

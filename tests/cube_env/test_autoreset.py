"""Both of Gymnasium's modes of autoreset, held against single environments that are reset by hand."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics
from packaging.version import Version

from cube_env import Action, CubeEnv, CubeVecEnv, Layout, Scenario
from tests.cube_env.boards import board

SMALL = Scenario(side=9, agents=4, blocks={1: 4, 2: 1})
EASY = Layout.parse(board("0..A.|\n1....|"))
FINAL = {"final_obs", "_final_obs", "final_info", "_final_info"}


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("values", [{"scenario": SMALL}, {"layout": EASY}], ids=["drawn", "fixed"])
def test_in_the_same_step_an_end_gives_the_next_beginning_and_the_last_observation(kept, values):
    envs = CubeVecEnv(4, **values, max_steps=15, copy=kept, autoreset_mode=AutoresetMode.SAME_STEP)
    singles = [CubeEnv(**values, max_steps=15) for _ in range(4)]
    envs.reset(seed=5)
    for world, single in enumerate(singles):
        single.reset(seed=5 + world)
    rng = np.random.default_rng(0)
    ends = terminated = 0
    for _ in range(150):
        actions = np.where(rng.random((4, envs.n)) < 0.8, Action.RIGHT, rng.integers(0, 5, (4, envs.n)))
        observations, rewards, terminations, truncations, infos = envs.step(actions)
        ended = terminations | truncations
        assert FINAL.isdisjoint(infos) if not ended.any() else set(infos) >= FINAL
        for world, single in enumerate(singles):
            report = single.step_array(actions[world])
            assert rewards[world] == report.reward
            assert (terminations[world], truncations[world]) == (report.terminated, report.truncated)
            if ended[world]:
                np.testing.assert_array_equal(infos["final_obs"][world], single.state())
                assert infos["_final_obs"][world]
                assert infos["_final_info"][world]
                assert infos["final_info"]["step"][world] == single.snapshot().step
                assert infos["final_info"]["delivered_weight"][world] == report.delivered_weight
                single.reset()
                ends += 1
                terminated += report.terminated
            elif ended.any():
                assert infos["final_obs"][world] is None
                assert not infos["_final_obs"][world]
            np.testing.assert_array_equal(observations[world], single.state())
            assert infos["step"][world] == single.snapshot().step
            np.testing.assert_array_equal(infos["action_mask"][world], list(single.action_masks().values()))
    assert ends >= 40
    assert terminated < ends
    assert terminated or "layout" not in values


def test_what_ended_is_kept_though_the_worlds_go_on():
    envs = CubeVecEnv(2, n=2, max_steps=2, copy=False, autoreset_mode="SameStep")
    envs.reset(seed=0)
    envs.step(np.full((2, 2), 4))
    *_, infos = envs.step(np.full((2, 2), 4))
    last, reported = infos["final_obs"][0].copy(), infos["final_info"]["step"].copy()
    envs.step(np.full((2, 2), 4))
    np.testing.assert_array_equal(infos["final_obs"][0], last)
    assert infos["final_info"]["step"].tolist() == reported.tolist() == [2, 2]


OLD = Version(gymnasium.__version__) < Version("1.3")


@pytest.mark.parametrize(
    "mode",
    [
        AutoresetMode.NEXT_STEP,
        pytest.param(AutoresetMode.SAME_STEP, marks=pytest.mark.skipif(OLD, reason="a wrapper of gymnasium>=1.3")),
    ],
)
def test_gymnasiums_wrappers_count_the_episodes_in_both_modes(mode):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        envs = RecordEpisodeStatistics(CubeVecEnv(3, n=2, max_steps=5, autoreset_mode=mode))
    assert envs.metadata["autoreset_mode"] is mode
    envs.reset(seed=0)
    returns = []
    for _ in range(17):
        *_, infos = envs.step(np.zeros((3, 2), dtype=np.int64))
        if "episode" in infos:
            returns += infos["episode"]["r"][infos["_episode"]].tolist()
            assert infos["episode"]["l"].tolist() == [5, 5, 5]
    np.testing.assert_allclose(returns, -0.05)
    assert len(returns) == 9


def test_infos_turn_into_a_list_of_dictionaries():
    envs = DictInfoToList(CubeVecEnv(3, n=2, max_steps=1, autoreset_mode="SameStep"))
    _, infos = envs.reset(seed=0)
    assert [info["step"] for info in infos] == [0, 0, 0]
    *_, infos = envs.step(np.zeros((3, 2), dtype=np.int64))
    assert infos[1]["action_mask"].shape == (2, 5)
    assert infos[1]["final_obs"].shape == (20, 20, 5)
    assert infos[1]["final_info"]["step"] == 1


@pytest.mark.parametrize("observe", [True, False])
def test_the_spaces_of_a_batch_are_those_of_one_batched(observe):
    envs = CubeVecEnv(3, n=2, observe=observe)
    assert envs.observation_space == batch_space(envs.single_observation_space, 3)
    assert envs.action_space == batch_space(envs.single_action_space, 3)
    assert envs.state_space == batch_space(CubeEnv(n=2).state_space, 3)
    envs.reset(seed=0)
    assert envs.state() in envs.state_space
    single = CubeEnv(n=2)
    single.reset(seed=2)
    np.testing.assert_array_equal(envs.state()[2], single.state())


def test_close_can_be_called_at_any_time_and_twice():
    for env in (CubeEnv(n=2), CubeVecEnv(2, n=2)):
        env.close()
        env.reset(seed=0)
        env.close()
        env.close()

"""Flat and egocentric observations, the reward of the team, and the team as one agent, in both worlds."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test

from llamac_env import (
    ActionError,
    Difficulty,
    Egocentric,
    FlatObservations,
    Grid,
    SqueezeEnv,
    TeamReward,
    TransportEnv,
    TransportVecEnv,
    WorldError,
)
from tests.conftest import environment
from tests.llamac_env.boards import board

TRANSPORT, SQUEEZE = "quorum/Transport-v0", "quorum/Squeeze-v0"
HARD = Grid(2, 4, Difficulty.hard)
WRAPS = {
    "flat": lambda: FlatObservations(TransportEnv(HARD)),
    "egocentric": lambda: Egocentric(TransportEnv(HARD), radius=2),
    "flat egocentric": lambda: FlatObservations(Egocentric(TransportEnv(HARD), radius=0)),
    "team": lambda: TeamReward(TransportEnv(HARD), "sum"),
    "flat squeeze": lambda: FlatObservations(SqueezeEnv(3)),
}


@pytest.mark.parametrize("make", WRAPS.values(), ids=WRAPS)
def test_pettingzoos_own_test_passes(make, capsys):
    parallel_api_test(make(), num_cycles=60)


@pytest.mark.parametrize("make", WRAPS.values(), ids=WRAPS)
def test_a_copy_goes_on_in_step_with_the_original(make):
    env = make()
    env.reset(seed=0)
    others = copy.deepcopy(env), pickle.loads(pickle.dumps(env))
    for action in (0, 1, 3):
        joint = {name: action if name == "agent_0" else 0 for name in env.agents}
        expected = env.step(joint)
        for other in others:
            np.testing.assert_equal(other.step(joint), expected)


def test_a_flat_observation_leaves_the_mask_to_the_info():
    plain, flat = TransportEnv(HARD), FlatObservations(TransportEnv(HARD))
    observations, _ = plain.reset(seed=3)
    vectors, infos = flat.reset(seed=3)
    for name, seen in observations.items():
        assert vectors[name].tolist() == seen["observation"].ravel().tolist()
        assert infos[name]["action_mask"].tolist() == seen["action_mask"].tolist()
        assert flat.observation_space(name).contains(vectors[name])


def test_an_egocentric_window_by_hand():
    env = Egocentric(TransportEnv(Grid(2, 2, Difficulty.hard)), radius=1)
    state = board(env.unwrapped.grid, box_red="1.0_1.0", target_red="1.5_1.5")
    observations, _ = env.reset(options={"board": state})
    window = observations["agent_0"]["observation"]
    assert window.shape == (7, 7, 11)
    # Its own cell is in the middle; a cell is two places, a corner one place off.
    assert np.argwhere(window[..., :10]).tolist() == [[4, 4, 1], [5, 5, 6]]
    assert window[..., 10].tolist() == [[int(min(row, col) < 2) for col in range(7)] for row in range(7)]
    assert np.argwhere(observations["agent_3"]["observation"][..., :10]).tolist() == [[2, 2, 1], [3, 3, 6]]
    assert all(env.observation_space(name).contains(seen) for name, seen in observations.items())


def test_wrappers_name_what_they_do_not_take():
    with pytest.raises(WorldError, match="takes a TransportEnv, not a SqueezeEnv"):
        Egocentric(SqueezeEnv(3))
    with pytest.raises(WorldError, match=r"radius = 1\.5"):
        Egocentric(TransportEnv(HARD), 1.5)
    with pytest.raises(WorldError, match="reduce = 'max'"):
        TeamReward(SqueezeEnv(3), "max")


def test_the_sum_of_a_shared_reward_is_n_times_as_much():
    for reduce, factor in (("mean", 1), ("sum", 3)):
        env = TeamReward(SqueezeEnv(3), reduce)
        env.reset(seed=0)
        rewards = env.step({"agent_0": 5, "agent_1": 4, "agent_2": 3})[1]
        assert rewards == dict.fromkeys(env.possible_agents, pytest.approx(factor * env.unwrapped.game.reward(12)))


@pytest.mark.parametrize(
    ("name", "options"), [(TRANSPORT, {"difficulty": "hard"}), (TRANSPORT, {}), (SQUEEZE, {"n": 4})]
)
def test_gymnasiums_own_check_passes(name, options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*different from the unwrapped version.*")
        check_env(gymnasium.make(name, render_mode="rgb_array", **options).unwrapped)


def test_a_team_is_a_board_of_the_batch():
    team = gymnasium.make(TRANSPORT, n=8, difficulty="hard", max_steps=9)
    batch = gymnasium.make_vec(TRANSPORT, num_envs=2, n=8, difficulty="hard", max_steps=9)
    assert isinstance(batch, TransportVecEnv)
    (observation, info), (observations, infos) = team.reset(seed=3), batch.reset(seed=3)
    rng, ended = np.random.default_rng(0), False
    while not ended:
        np.testing.assert_array_equal(observation, observations[0])
        np.testing.assert_equal(info, {name: infos[name][0] for name in info})
        np.testing.assert_array_equal(team.unwrapped.action_masks(), batch.action_masks()[0])
        np.testing.assert_array_equal(team.unwrapped.state(), batch.state()[0])
        actions = np.argmax(rng.random(infos["action_mask"].shape) * infos["action_mask"], axis=-1)
        observation, reward, terminated, truncated, info = team.step(actions[0])
        observations, rewards, over, cut, infos = batch.step(actions)
        assert (reward, terminated, truncated) == (rewards[0], over[0], cut[0])
        ended = terminated or truncated
    with pytest.raises(ActionError, match=r"shape \(8,\)"):
        team.unwrapped.step([1, 2])


def test_a_team_can_squeeze_alone_and_in_batches():
    team = gymnasium.make(SQUEEZE, n=3, rounds=2)
    observation, info = team.reset(seed=0)
    assert observation.tolist() == [[-1, 0]] * 3
    assert info["action_mask"].shape == (3, 10)
    _, reward, terminated, truncated, info = team.step([1, 4, 9])
    assert (reward, terminated, truncated, info["sum"]) == (team.unwrapped.world.game.reward(14), False, False, 14)
    envs = gymnasium.make_vec(SQUEEZE, num_envs=2, n=3, rounds=2)
    envs.reset(seed=0)
    rewards = envs.step(np.array([[1, 4, 9], [0, 0, 0]]))[1]
    assert rewards.tolist() == [reward, 0]
    envs.close()


@pytest.mark.parametrize("options", [{"n": 2.5}, {"n": 8, "rows": 3}, {"difficulty": "medium"}, {"entry_rule": "any"}])
def test_what_is_no_grid_is_refused(options):
    with pytest.raises(WorldError, match=list(options)[-1]):
        gymnasium.make(TRANSPORT, **options)


@pytest.mark.parametrize("order", ["import llamac_env, gymnasium", "import gymnasium, llamac_env"])
def test_the_ids_are_there_in_either_order_of_imports(order):
    code = f"{order}\nprint(gymnasium.spec('{TRANSPORT}').id, gymnasium.spec('{SQUEEZE}').id)"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout.split() == [TRANSPORT, SQUEEZE]

"""Flat and egocentric observations, the flat state and the team's reward."""

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test

from cube_env import (
    CubeEnv,
    CubeVecEnv,
    Egocentric,
    FlatObservations,
    Layout,
    ShapedEnv,
    TeamReward,
    WorldError,
    egocentric_observations,
    flat_observations,
    flat_state,
)
from tests.cube_env.boards import board, herd_actions

# Side 6: agents 0 at (0, 1) and 1 at (2, 0), block A of weight 1 at (0, 3), block B of weight 2 at (2, 2).
BOARD = Layout.parse(board(".0.A.|\n.....|\n1.BB.|\n..BB.|"))


def made(wrap, **arguments):
    env = wrap(CubeEnv(layout=BOARD, **arguments))
    return env, env.reset(seed=0)[0]


@pytest.mark.parametrize("wrap", [FlatObservations, Egocentric, lambda env: TeamReward(env, "sum")])
def test_pettingzoos_own_test_passes(wrap, capsys):
    parallel_api_test(wrap(CubeEnv(n=3, max_steps=30, copy=False)), num_cycles=80)


def test_a_flat_observation_by_hand():
    env, observations = made(FlatObservations, max_steps=4)
    side, last = 6, 5
    block_a = [1, 1 / side, 0 / side, 2 / side, 2 / side]
    block_b = [1, 2 / side, 2.5 / side, 1.5 / side, 2 / side]
    expected = [0, 0 / last, 1 / last, 2 / side, -1 / side, *block_a, *block_b]
    np.testing.assert_allclose(observations["agent_0"], np.float32(expected))
    block_a, block_b = [1, 1 / side, -2 / side, 3 / side, 2 / side], [1, 2 / side, 0.5 / side, 2.5 / side, 2 / side]
    expected = [0, 2 / last, 0 / last, -2 / side, 1 / side, *block_a, *block_b]
    np.testing.assert_allclose(observations["agent_1"], np.float32(expected))
    state = [0, 0, 1 / last, 2 / last, 0, 1, 1 / side, 0, 3 / side, 1, 2 / side, 2 / side, 2 / side]
    np.testing.assert_allclose(env.state(), np.float32(state))
    for _ in range(3):
        observations, *_ = env.step({"agent_0": 4, "agent_1": 0})
    assert observations["agent_0"][0] == 0.75
    assert not observations["agent_0"][5:10].any(), "a delivered block is all zeros"
    assert not env.state()[5:9].any()
    assert env.state_space.contains(env.state())


def test_an_egocentric_window_by_hand():
    env, observations = made(lambda env: Egocentric(env, radius=1))
    agents, weights, goals, numbers, blocks, outside = np.moveaxis(observations["agent_0"], -1, 0)
    assert outside.tolist() == [[1, 1, 1], [0, 0, 0], [0, 0, 0]]
    assert agents.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert numbers[1, 1] == 1
    assert not any(channel.any() for channel in (weights, goals, blocks))
    env.step({"agent_0": 4, "agent_1": 4})
    observations, *_ = env.step({"agent_0": 4, "agent_1": 0})
    _, weights, goals, _, blocks, _ = np.moveaxis(observations["agent_1"], -1, 0)
    assert weights.tolist() == [[0, 0, 0], [0, 0, 2], [0, 0, 2]]
    assert blocks.tolist() == [[0, 0, 0], [0, 0, 2], [0, 0, 2]]
    assert np.moveaxis(observations["agent_0"], -1, 0)[2].tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 0]]


def test_a_window_is_cut_from_the_observation_of_the_whole_board():
    env = CubeEnv(n=8)
    env.reset(seed=1)
    rng = np.random.default_rng(0)
    for radius in (0, 2, 5, 25):
        for _ in range(5):
            env.step(dict(zip(env.agents, herd_actions(rng, 8).tolist(), strict=True)))
        around = np.pad(env.state(), ((radius, radius), (radius, radius), (0, 1)))
        around[..., 5] = np.pad(np.zeros((20, 20)), radius, constant_values=1)
        for (row, col), window in zip(
            env.snapshot().agents, egocentric_observations(env.cube_state.world, radius), strict=True
        ):
            width = 2 * radius + 1
            np.testing.assert_array_equal(window, around[row : row + width, col : col + width])


def test_a_batch_is_seen_as_its_worlds():
    envs = CubeVecEnv(3, n=4, max_steps=20, observe=False)
    envs.reset(seed=4)
    rng = np.random.default_rng(0)
    for _ in range(40):
        envs.step(rng.integers(0, 5, (3, 4)))
        worlds = [envs.cube_state(number).world for number in range(3)]
        for see in (
            lambda world: flat_observations(world, 20),
            lambda world: flat_state(world, 20),
            lambda world: egocentric_observations(world, 3),
        ):
            np.testing.assert_array_equal(see(envs.worlds), [see(world) for world in worlds])


@pytest.mark.parametrize("wrap", [FlatObservations, Egocentric])
def test_what_is_seen_is_within_its_space_and_the_callers_own(wrap):
    env = wrap(CubeEnv(n=4, max_steps=200))
    observations, _ = env.reset(seed=0)
    rng = np.random.default_rng(0)
    kept, first = observations["agent_1"].copy(), observations["agent_1"]
    while env.agents:
        observations, *_ = env.step(dict(zip(env.agents, herd_actions(rng, 4).tolist(), strict=True)))
        assert all(env.observation_space(name).contains(seen) for name, seen in observations.items())
    np.testing.assert_array_equal(first, kept)
    assert env.observation_space("agent_0") is env.observation_spaces["agent_3"]


def test_a_layout_with_other_blocks_is_refused():
    env = FlatObservations(CubeEnv(n=2))
    with pytest.raises(WorldError, match="the board has 1 blocks, but the observation vectors have room for 3"):
        env.reset(options={"layout": Layout(20, [(0, 0), (1, 0)], [(3, (4, 4))])})


def test_every_agent_gets_the_reward_of_the_team():
    drawn = Layout.parse(board("..01AA|\n....AA|\n2.....|"))
    actions = {"agent_0": 4, "agent_1": 4, "agent_2": 0}
    for reduce, expected in (("mean", 2 / 3 - 0.25), ("sum", 2 - 0.75)):
        env = TeamReward(ShapedEnv(CubeEnv(layout=drawn, step_cost=0.25), "default"), reduce)
        env.reset(seed=0)
        assert env.step(actions)[1] == dict.fromkeys(actions, pytest.approx(expected))
    with pytest.raises(WorldError, match="reduce = 'max'"):
        TeamReward(CubeEnv(n=2), "max")
    with pytest.raises(WorldError, match=r"radius = 1\.5"):
        Egocentric(CubeEnv(n=2), radius=1.5)

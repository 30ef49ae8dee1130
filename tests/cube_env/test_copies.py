"""A copy of an environment, made in the middle of an episode, goes on in lock-step with the original."""

import copy
import pickle

import cloudpickle
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

from cube_env import (
    Action,
    CubeEnv,
    CubeVecEnv,
    Egocentric,
    FlatObservations,
    Scenario,
    ShapedEnv,
    TeamReward,
)
from tests.cube_env.boards import herd_actions

SMALL = Scenario(side=9, agents=4, blocks={1: 4, 2: 1})
TWINS = [
    copy.deepcopy,
    lambda env: pickle.loads(pickle.dumps(env)),
    lambda env: cloudpickle.loads(cloudpickle.dumps(env)),
]


def reported(results):
    """What a step gives, as plain data that `data_equivalence` compares."""
    return tuple(dict(part) if isinstance(part, dict) else part for part in results)


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("reward", ["default", "alignment"])
def test_a_copied_batch_goes_on_in_lock_step(twin, kept, mode, reward):
    envs = CubeVecEnv(3, scenario=SMALL, max_steps=25, copy=kept, autoreset_mode=mode, reward=reward)
    envs.reset(seed=3)
    rng = np.random.default_rng(0)
    for _ in range(12):
        envs.step(rng.integers(0, 5, (3, 4)))
    other = twin(envs)
    rewards, ends = set(), 0
    for _ in range(60):
        actions = np.where(rng.random((3, 4)) < 0.7, Action.RIGHT, rng.integers(0, 5, (3, 4)))
        one, two = envs.step(actions), other.step(actions)
        for part, same in zip(one[:4], two[:4], strict=True):
            np.testing.assert_array_equal(part, same)
            assert not np.shares_memory(part, same)
        assert data_equivalence(one[4]["action_mask"], two[4]["action_mask"])
        assert set(one[4]) == set(two[4])
        assert all(envs.snapshot(world) == other.snapshot(world) for world in range(3))
        np.testing.assert_array_equal(two[0], other.state())
        rewards |= set(one[1].tolist())
        ends += int(np.count_nonzero(one[2] | one[3]))
    assert len(rewards) > 1
    assert ends >= 6
    before = envs.state()
    other.step(np.full((3, 4), 4))
    np.testing.assert_array_equal(envs.state(), before)


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("infos", ["none", "plain", "symbolic"])
def test_a_copied_environment_goes_on_in_lock_step(twin, kept, infos):
    env = CubeEnv(scenario=SMALL, max_steps=40, copy=kept, infos=infos)
    env.reset(seed=3)
    rng = np.random.default_rng(0)
    for _ in range(10):
        env.step(dict(zip(env.agents, herd_actions(rng, 4).tolist(), strict=True)))
    other = twin(env)
    while env.agents:
        actions = dict(zip(env.agents, herd_actions(rng, 4).tolist(), strict=True))
        one, two = env.step(actions), other.step(actions)
        assert data_equivalence(reported(one[:4]), reported(two[:4]))
        if infos == "plain":
            assert data_equivalence(one[4], two[4])
        elif infos == "symbolic":
            assert one[4] == two[4]
        assert np.array_equal(two[0]["agent_0"], other.state())
        assert env.agents == other.agents
    assert data_equivalence(env.reset()[0], other.reset()[0]), "the stream of layouts goes on"


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("wrap", [FlatObservations, Egocentric, TeamReward, lambda env: ShapedEnv(env, "progress")])
def test_a_copied_wrapper_goes_on_in_lock_step(twin, wrap):
    env = wrap(CubeEnv(scenario=SMALL, max_steps=30, copy=False))
    env.reset(seed=3)
    env.step(dict.fromkeys(env.agents, 4))
    other = twin(env)
    rng = np.random.default_rng(0)
    while env.agents:
        actions = dict(zip(env.agents, rng.integers(0, 5, 4).tolist(), strict=True))
        assert data_equivalence(reported(env.step(actions)), reported(other.step(actions)))
        assert np.array_equal(env.state(), other.state())
    assert other.agents == []

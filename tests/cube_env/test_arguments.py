"""Actions, seeds and arguments are what they should be, or one error names them and nothing has happened."""

import re

import numpy as np
import pytest

from cube_env import ActionError, CubeEnv, CubeVecEnv, PlacementError, WorldError, curriculum
from tests.cube_env.boards import board, drawing, play

NO_ACTIONS = [1.9, "3", float("nan"), None, 2**70, -(2**70), [4], np.array([4]), np.float32(4), 4 + 0j, b"4", {}]


@pytest.mark.parametrize("action", NO_ACTIONS, ids=repr)
def test_what_is_no_integer_is_no_action(action):
    env = play("01.A.|")
    with pytest.raises(ActionError, match=r"agent_1: action .* is none of 0 STAY"):
        env.step({"agent_0": 4, "agent_1": action})
    assert drawing(env) == board("01.A.|")
    assert env.snapshot().step == 0


@pytest.mark.parametrize(
    "actions", [{0: 4, 1: 4}, [4, 4], np.array([4, 4]), None, 4, "44", [("agent_0", 4), ("agent_1", 4)]], ids=repr
)
def test_what_is_no_dictionary_by_agent_is_no_joint_action(actions):
    env = play("01.A.|")
    with pytest.raises(ActionError):
        env.step(actions)
    assert env.snapshot().step == 0


@pytest.mark.parametrize("action", [*NO_ACTIONS, 5, -1, np.uint64(2**63 + 4)], ids=repr)
def test_what_is_no_integer_is_no_action_of_an_array(action):
    env, envs = play("01.A.|"), CubeVecEnv(2, n=2)
    envs.reset(seed=0)
    with pytest.raises(ActionError):
        env.step_array([4, action])
    with pytest.raises(ActionError):
        envs.step([[4, 4], [4, action]])
    assert env.snapshot().step == envs.snapshot(0).step == envs.snapshot(1).step == 0


def test_an_action_beyond_64_bits_is_shown_as_it_was_given():
    envs = CubeVecEnv(1, n=1)
    envs.reset(seed=0)
    with pytest.raises(ActionError, match="world 0, agent_0: action 9223372036854775812 is none of"):
        envs.step(np.array([[2**63 + 4]], dtype=np.uint64))


@pytest.mark.parametrize("seed", [np.int64(7), np.uint8(7), np.array(7)])
def test_integers_of_numpy_are_seeds(seed):
    env, envs, plain = CubeEnv(n=4), CubeVecEnv(2, n=4), CubeEnv(n=4)
    env.reset(seed=seed)
    plain.reset(seed=7)
    assert drawing(env) == drawing(plain)
    for seeds in (seed, [seed, 8], np.array([7, 8])):
        envs.reset(seed=seeds)
        assert envs.snapshot(0) == plain.snapshot()


@pytest.mark.parametrize("seed", [1.9, "7", -1, float("nan"), np.float64(7)])
def test_what_is_no_integer_from_0_is_no_seed(seed):
    env, envs = CubeEnv(n=4), CubeVecEnv(2, n=4)
    env.reset(seed=1)
    envs.reset(seed=1)
    before = drawing(env), envs.snapshot(0)
    for call in (env.reset, envs.reset, lambda seed: envs.reset(seed=[0, seed])):
        with pytest.raises(WorldError, match=re.escape(f"seed = {seed!r}: give an integer of at least 0")):
            call(seed=seed)
    assert (drawing(env), envs.snapshot(0)) == before
    envs.reset()
    other = CubeEnv(n=4)
    other.reset(seed=1)
    other.reset()
    assert envs.snapshot(0) == other.snapshot(), "the streams of layouts are as they were"


@pytest.mark.parametrize(
    "arguments",
    [
        {"n": 1.5},
        {"n": "2"},
        {"max_steps": 1.5},
        {"max_steps": "5"},
        {"max_steps": float("inf")},
        {"step_cost": "0.1"},
        {"deliver_reward": float("inf")},
        {"deliver_reward": None},
        {"infos": None},
        {"render_mode": "film"},
    ],
    ids=repr,
)
@pytest.mark.parametrize("make", [CubeEnv, lambda **a: CubeVecEnv(2, **a)], ids=["single", "batch"])
def test_a_wrong_argument_is_named_with_its_value(make, arguments):
    ((name, value),) = arguments.items()
    with pytest.raises(WorldError, match=re.escape(f"{name} = {value!r}: ")):
        make(**({"n": 2} | arguments))


def test_integers_of_numpy_are_arguments():
    env = CubeEnv(n=np.int64(2), max_steps=np.int32(3))
    assert type(env.max_steps) is int
    with pytest.raises(PlacementError, match=re.escape("n = 1.5")):
        curriculum(1.5)


@pytest.mark.parametrize("arguments", [{"num_envs": 1.5}, {"reward": "progres"}, {"autoreset_mode": "Disabled"}])
def test_a_wrong_argument_of_a_batch_is_named(arguments):
    with pytest.raises(WorldError, match=re.escape(repr(next(iter(arguments.values()))))):
        CubeVecEnv(**({"num_envs": 2, "n": 2} | arguments))

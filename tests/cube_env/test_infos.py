"""Plain infos are numbers and arrays that anybody may keep, compare, copy and send."""

import copy
import pickle

import numpy as np
import pytest

from cube_env import CubeEnv, CubeVecEnv, WorldError
from tests.cube_env.boards import play

KEYS = {"step", "blocks_left", "delivered_weight", "action_mask"}


def test_plain_infos_outlive_the_steps_that_follow():
    env = CubeEnv(n=2)
    _, infos = env.reset(seed=0)
    first = infos["agent_0"]
    env.step(dict.fromkeys(env.agents, 4))
    env.reset()
    assert len(first) == len(dict(first)) == len(list(first)) == 4
    for twin in (copy.deepcopy(first), copy.copy(first), pickle.loads(pickle.dumps(first))):
        assert type(twin) is dict
        np.testing.assert_equal(twin, first)
    assert first["step"] == 0


def test_plain_infos_have_the_same_keys_and_types_at_every_moment():
    env = play("..0A1|\n..B..|", "R.")
    seen = [env.reset(seed=0)[1]]
    while env.agents:
        seen.append(env.step({"agent_0": 4, "agent_1": 2})[-1])
        if env.snapshot().step > 5:
            break
    for infos in seen:
        for info in infos.values():
            assert set(info) == KEYS
            assert {key: type(info[key]) for key in KEYS - {"action_mask"}} == dict.fromkeys(
                KEYS - {"action_mask"}, int
            )
            assert (info["action_mask"].shape, info["action_mask"].dtype) == ((5,), np.int8)


def test_plain_infos_tell_what_the_step_did():
    env = play("..01AA|\n....AA|\n2.B...|")
    *_, infos = env.step({"agent_0": 4, "agent_1": 4, "agent_2": 0})
    assert {(i["step"], i["blocks_left"], i["delivered_weight"]) for i in infos.values()} == {(1, 1, 2)}
    *_, infos = env.step(dict.fromkeys(env.agents, 0))
    assert {(i["step"], i["blocks_left"], i["delivered_weight"]) for i in infos.values()} == {(2, 1, 0)}


def test_infos_can_be_left_out():
    env = CubeEnv(n=2, infos="none")
    assert env.reset(seed=0)[1] == {"agent_0": {}, "agent_1": {}}
    assert env.step(dict.fromkeys(env.agents, 0))[-1] == {"agent_0": {}, "agent_1": {}}
    envs = CubeVecEnv(2, n=2, infos="none")
    assert envs.reset(seed=0)[1] == {}
    assert envs.step(np.zeros((2, 2), dtype=int))[-1] == {}


@pytest.mark.parametrize("make", [CubeEnv, lambda **a: CubeVecEnv(2, **a)])
def test_an_unknown_kind_of_infos_is_named(make):
    with pytest.raises(WorldError, match="infos = 'lazy': choose one of 'none', 'plain'"):
        make(n=2, infos="lazy")


def test_a_replay_buffer_keeps_both_ends_of_a_transition():
    env, envs = CubeEnv(n=2), CubeVecEnv(2, n=2)
    before, batch_before = env.reset(seed=0)[0], envs.reset(seed=0)[0]
    kept, batch_kept = copy.deepcopy(before), batch_before.copy()
    after, *_ = env.step(dict.fromkeys(env.agents, 4))
    batch_after, rewards, terminations, truncations, infos = envs.step(np.full((2, 2), 4))
    np.testing.assert_equal(before, kept)
    np.testing.assert_array_equal(batch_before, batch_kept)
    assert not np.array_equal(before["agent_0"], after["agent_0"])
    assert not np.shares_memory(before["agent_0"], after["agent_0"])
    for array in (batch_after, rewards, terminations, truncations, *infos.values()):
        array[...] = 0
    assert envs.step(np.full((2, 2), 4))[1].tolist() == [-0.01, -0.01]
    assert envs.state().any()

"""A batch of worlds is so many single ones."""

import numpy as np
import pytest

from crafter_env import ActionError, CrafterEnv, CrafterError, CrafterVecEnv, EpisodeError, Layout

WORLDS = ("materials", "occupants", "agents", "chunks", "counters", "generator")


def assert_same_world(envs, world, single):
    batch, alone = envs.crafter_state(world), single.crafter_state
    for name in WORLDS:
        np.testing.assert_array_equal(getattr(batch.world, name), getattr(alone.world, name), err_msg=name)
    assert batch.creatures() == alone.creatures()


@pytest.mark.parametrize(
    "arguments", [{"n": 1, "profile": "crafter"}, {"n": 3, "obs": "both"}, {"n": 2, "profile": "coop2"}]
)
def test_a_batch_is_so_many_single_environments(arguments):
    envs = CrafterVecEnv(3, **arguments, max_steps=70)
    singles = [CrafterEnv(**arguments, max_steps=70) for _ in range(3)]
    observations, _ = envs.reset(seed=8)
    expected = [single.reset(seed=8 + world)[0] for world, single in enumerate(singles)]
    rng, ended, episodes = np.random.default_rng(0), [False] * 3, 0
    for _ in range(160):
        for world, single in enumerate(singles):
            assert_same_world(envs, world, single)
            for agent, seen in expected[world].items():
                for name, array in seen.items():
                    here = (
                        observations[name][world] if name == "daylight" else observations[name][world, int(agent[6:])]
                    )
                    np.testing.assert_array_equal(here, array, err_msg=name)
        actions = rng.integers(17, size=(3, envs.n))
        observations, rewards, terminations, truncations, infos = envs.step(actions)
        for world, single in enumerate(singles):
            if ended[world]:
                expected[world], _ = single.reset()
                assert not rewards[world].any()
                assert not (terminations | truncations)[world].any()
                episodes += 1
            else:
                joint = {agent: actions[world, int(agent[6:])] for agent in single.agents}
                expected[world], won, dead, cut, _ = single.step(joint)
                for agent in won:
                    at = world, int(agent[6:])
                    assert (rewards[at], terminations[at], truncations[at]) == (won[agent], dead[agent], cut[agent])
            ended[world] = not single.agents
            assert infos["step"][world] == single.crafter_state.step
    assert episodes >= 3


def test_seeds_can_be_one_for_each_world_and_go_on():
    envs, twin = CrafterVecEnv(2, 2, obs=None), CrafterVecEnv(2, 2)
    observations, _ = envs.reset(seed=[4, 9])
    assert observations == {}
    twin.reset(seed=4)
    assert (envs.crafter_state(0).materials == twin.crafter_state(0).materials).all()
    first = envs.crafter_state(0).materials.copy()
    envs.reset()
    assert (envs.crafter_state(0).materials != first).any()
    with pytest.raises(CrafterError, match="3 seeds for 2 worlds"):
        envs.reset(seed=[1, 2, 3])


def test_what_is_given_out_is_read_only():
    envs = CrafterVecEnv(2, 2)
    observations, infos = envs.reset(seed=0)
    for array in (*observations.values(), *infos.values(), *envs.step(np.zeros((2, 2), dtype=int))[1:4]):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_wrong_calls_are_named():
    with pytest.raises(CrafterError, match="num_envs = 0"):
        CrafterVecEnv(0, 2)
    envs = CrafterVecEnv(2, 2)
    with pytest.raises(EpisodeError, match="reset"):
        envs.step(np.zeros((2, 2), dtype=int))
    envs.reset(seed=0)
    with pytest.raises(ActionError, match="world 1, agent 0: action 50"):
        envs.step(np.array([[0, 0], [50, 0]]))
    with pytest.raises(ActionError, match=r"give integers of shape \(2, 2\)"):
        envs.step(np.zeros((2, 3), dtype=int))
    with pytest.raises(CrafterError, match="no render mode"):
        envs.render()


def test_every_world_can_be_drawn():
    envs = CrafterVecEnv(2, layout=Layout.parse("0.T\n...\n..1"), render_mode="ansi")
    envs.reset(seed=0)
    assert envs.render() == ("0.T\n...\n..1",) * 2

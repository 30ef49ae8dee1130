"""The team as one Gymnasium environment, the ids, and the team's choice as one number."""

import copy
import subprocess
import sys
import warnings
from itertools import product

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode

from cube_env import ActionError, CubeEnv, CubeTeamEnv, CubeVecEnv, EpisodeError, FlatActions, ShapedEnv, WorldError
from tests.conftest import environment
from tests.cube_env.boards import herd_actions

ID = "quorum/Cube-v0"


def test_gymnasiums_own_check_passes():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Its observation is a grid of many channels, which Gymnasium takes for an odd picture.
        warnings.filterwarnings("ignore", message=".*Box observation space.*")
        warnings.filterwarnings("ignore", message=".*different from the unwrapped version.*")
        check_env(gymnasium.make(ID, n=2, render_mode="rgb_array", max_steps=5).unwrapped)


@pytest.mark.parametrize("reward", ["default", "progress"])
def test_it_is_the_environment_of_the_agents(reward):
    team = gymnasium.make(ID, n=4, max_steps=60, reward=reward)
    env = ShapedEnv(CubeEnv(n=4, max_steps=60), reward)
    observation, info = team.reset(seed=3)
    observations, infos = env.reset(seed=3)
    rng = np.random.default_rng(0)
    ended = False
    while not ended:
        np.testing.assert_array_equal(observation, observations["agent_0"])
        expected = {key: infos["agent_0"][key] for key in ("step", "blocks_left", "delivered_weight")}
        assert {key: info[key] for key in expected} == expected
        np.testing.assert_array_equal(info["action_mask"], list(env.action_masks().values()))
        action = herd_actions(rng, 4)
        observation, gained, terminated, truncated, info = team.step(action)
        found = env.step(dict(zip(env.agents, action, strict=True)))
        observations, infos = found[0], found[-1]
        assert (gained, terminated, truncated) == tuple(part["agent_0"] for part in found[1:4])
        ended = terminated or truncated
    assert not env.agents
    with pytest.raises(EpisodeError):
        team.step(action)


def test_its_observations_are_the_callers_own_or_a_read_only_view():
    for kept in (True, False):
        env = CubeTeamEnv(n=2, copy=kept, infos="none")
        first, info = env.reset(seed=0)
        second, *_ = env.step([4, 4])
        assert info == {}
        assert np.shares_memory(first, second) is not kept
        assert second.flags.writeable is kept


def test_a_copied_team_goes_on():
    env = CubeTeamEnv(n=4, max_steps=50)
    env.reset(seed=0)
    env.step([4] * 4)
    other = copy.deepcopy(env)
    for action in ([4, 1, 2, 4], [4, 4, 4, 4]):
        assert data_equivalence(env.step(action), other.step(action))
    assert data_equivalence(env.reset(), other.reset())


@pytest.mark.parametrize(
    "arguments", [{}, {"n": 2, "max_steps": 1.5}, {"n": 2, "reward": "progres"}, {"n": 2, "infos": "symbolic"}]
)
def test_a_wrong_argument_is_named(arguments):
    with pytest.raises(WorldError):
        gymnasium.make(ID, **arguments)


def test_a_wrong_seed_or_action_is_named():
    env = CubeTeamEnv(n=2)
    with pytest.raises(WorldError, match=r"seed = 1\.9"):
        env.reset(seed=1.9)
    env.reset(seed=np.int64(0))
    for action in ([4, 1.9], [4], None, [4, 2**70], {0: 4, 1: 4}):
        with pytest.raises(ActionError):
            env.step(action)


def test_a_team_begins_its_next_episode_by_a_reset_alone():
    CubeTeamEnv(n=2, autoreset_mode=AutoresetMode.NEXT_STEP)
    with pytest.raises(WorldError, match="autoreset_mode"):
        CubeTeamEnv(n=2, autoreset_mode=AutoresetMode.SAME_STEP)


def test_make_vec_gives_the_batch():
    envs = gymnasium.make_vec(ID, num_envs=3, n=2, autoreset_mode=AutoresetMode.SAME_STEP)
    assert isinstance(envs, CubeVecEnv)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    synchronous = gymnasium.make_vec(ID, num_envs=3, vectorization_mode="sync", n=2)
    batch, alone = envs.reset(seed=5)[0], synchronous.reset(seed=5)[0]
    np.testing.assert_array_equal(batch, alone)
    assert envs.action_space == synchronous.action_space
    assert envs.observation_space == synchronous.observation_space
    actions = np.full((3, 2), 4)
    np.testing.assert_array_equal(envs.step(actions)[0], synchronous.step(actions)[0])
    synchronous.close()


@pytest.mark.parametrize(
    "imports",
    [
        "import cube_env, gymnasium",
        "import gymnasium, cube_env",
        "from cube_env import Scenario; import gymnasium.spaces",
        "import cube_env, importlib.util; importlib.util.find_spec('gymnasium'); import gymnasium",
        "import cube_env, gymnasium; cube_env.CubeEnv; import importlib; importlib.reload(cube_env)",
        "import gymnasium; gymnasium.make('cube_env:quorum/Cube-v0', n=2)",
    ],
)
def test_the_id_is_there_once_both_are_imported(imports):
    code = f"{imports}; assert gymnasium.make('{ID}', n=2).reset(seed=0)[1]['step'] == 0; print('made')"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], env=environment(), capture_output=True, text=True, check=False
    )
    assert done.stdout == "made\n", done.stderr


def test_the_choice_of_a_team_is_one_number():
    env = FlatActions(CubeTeamEnv(n=2))
    env.reset(seed=0)
    assert env.action_space.n == 25
    assert [tuple(env.action(number).tolist()) for number in range(25)] == list(product(range(5), repeat=2))
    masks = env.unwrapped.action_masks()
    assert env.action_masks().tolist() == [int(masks[0][a] and masks[1][b]) for a, b in product(range(5), repeat=2)]
    assert 0 < env.action_masks().sum() < 25
    other = CubeTeamEnv(n=2)
    other.reset(seed=0)
    assert data_equivalence(env.step(22), other.step([4, 2]))
    for wrong in (25, -1, 1.9, "3", None, 2**70):
        with pytest.raises(ActionError, match="is none of 0 to 24"):
            env.step(wrong)


def test_a_choice_that_is_too_large_or_of_another_environment_is_refused():
    with pytest.raises(WorldError, match=r"5\*\*9"):
        FlatActions(CubeTeamEnv(n=9))
    with pytest.raises(WorldError, match="CartPoleEnv"):
        FlatActions(gymnasium.make("CartPole-v1"))

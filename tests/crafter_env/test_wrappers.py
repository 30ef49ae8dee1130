"""Flat actions, flat and egocentric observations, the reward of the team, and the team as one agent."""

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

from crafter_env import (
    Action,
    ActionError,
    CrafterEnv,
    CrafterTeamEnv,
    CrafterTeamVecEnv,
    CrafterVecEnv,
    Egocentric,
    Entity,
    EpisodeError,
    FlatActions,
    FlatObservations,
    Item,
    Layout,
    Material,
    Result,
    TeamReward,
    WorldError,
    share,
)
from crafter_env.spaces import read_flat
from tests.conftest import environment
from tests.crafter_env.boards import world

ID = "quorum/Crafter-v0"
WRAPS = {
    "flat actions": FlatActions,
    "flat": lambda env: FlatObservations(FlatActions(env)),
    "egocentric": lambda env: FlatObservations(Egocentric(env)),
    "team": TeamReward,
}


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
def test_pettingzoos_own_test_passes(wrap, capsys):
    parallel_api_test(wrap(CrafterEnv(2, max_steps=40)), num_cycles=80)


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
def test_a_copy_goes_on_in_step_with_the_original(wrap):
    env = wrap(CrafterEnv(2, max_steps=60))
    env.reset(seed=0)

    def played(env):
        rng, found = np.random.default_rng(0), []
        for _ in range(40):
            found.append(env.step({agent: int(rng.integers(17)) for agent in env.agents}))
        return copy.deepcopy(found)

    others = copy.deepcopy(env), pickle.loads(pickle.dumps(env))
    mine = played(env)
    for other in others:
        np.testing.assert_equal(played(other), mine)


def test_a_flat_share_gives_one_unit_and_its_mask_is_exact():
    env = FlatActions(world("01.\n...\n..2", {0: {Item.wood: 2}, 1: {Item.wood: 9}}, infos="plain"))
    inner = env.unwrapped
    inner.crafter_state.inventory[2, Item.food] = 3
    saved = inner.save()
    assert read_flat(np.array(17 + 15 * 2 + 4)).tolist() == list(share(2, Item.wood))
    allowed = 0
    for name, mask in env.action_masks().items():
        assert mask.shape == (env.action_space(name).n,) == (17 + 15 * 3,)
        for action in range(17, len(mask)):
            inner.load(saved)
            *_, infos = env.step({**dict.fromkeys(env.agents, 0), name: action})
            assert (inner.outcome(name).result == Result.shared) == bool(mask[action]), (name, action)
            assert inner.outcome(name).amount == 1 or not mask[action]
            allowed += mask[action]
    assert allowed == 1  # agent 0 can give agent 1 nothing of what is full, agent 1 wood to agent 0
    assert infos["agent_0"]["action_mask"].shape == (17 + 15 * 3,)
    inner.load(saved)
    assert [int(mask[:17].sum()) for mask in env.action_masks().values()] == [
        int(mask[:17].sum()) for mask in inner.action_masks().values()
    ]


def test_flat_actions_are_checked_and_pass_through_without_sharing():
    env = FlatActions(world("01.\n...\n..."))
    for action in (17 + 15 * 2, -1, 1.5, None, "3", 2**70):
        with pytest.raises(ActionError, match="agent_1: action"):
            env.step({"agent_0": 0, "agent_1": action})
    alone = FlatActions(CrafterEnv(1, profile="crafter"))
    _, infos = alone.reset(seed=0)
    assert alone.action_space("agent_0").n == len(infos["agent_0"]["action_mask"]) == 17
    alone.step({"agent_0": Action.move_left})
    assert alone.unwrapped.outcome("agent_0").action == Action.move_left


def test_an_egocentric_view_by_hand():
    env = Egocentric(world("~0.\n.1C\nT..", {0: {Item.wood: 3}}))
    env.unwrapped.crafter_state.facing[0] = 1, 0
    observations, *_ = env.step({"agent_0": Action.noop, "agent_1": Action.noop})
    planes = observations["agent_0"]
    assert env.observation_space("agent_0").contains(planes)
    x, y = 4, 3
    materials, entities = planes[..., :12], planes[..., 12:19]
    assert materials[x - 1, y].tolist() == [material == Material.water for material in Material if material]
    assert not materials[x, y - 1].any()
    assert materials.sum() == 9
    assert entities[x, y + 1].tolist() == [entity == Entity.player for entity in Entity if entity]
    assert np.argwhere(planes[..., 19]).tolist() == [[x, y + 1]]
    assert planes[x, y + 1, 19] == 1.0
    assert observations["agent_1"][x, y - 1, 19] == 0.5
    assert (planes[..., 20 + Item.wood] == np.float32(3 / 9)).all()
    assert planes[0, 0, 36:39].tolist() == [1, 0, 0]
    with pytest.raises(WorldError, match='obs="symbolic"'):
        Egocentric(CrafterEnv(1, obs="pixels"))


def test_a_flat_observation_holds_every_part():
    env = FlatObservations(CrafterEnv(2))
    observations, _ = env.reset(seed=0)
    inner = env.unwrapped.crafter_state
    vector = observations["agent_1"]
    assert vector.dtype == np.float32
    parts = gymnasium.spaces.unflatten(CrafterEnv(2).observation_space("agent_1"), vector)
    assert parts["inventory"].tolist() == inner.inventory[1].tolist()
    assert parts["materials"].tolist() == inner.view(1).materials.tolist()


def test_every_agent_gets_the_reward_of_the_team():
    for reduce, expected in (("mean", 0.5), ("sum", 1.0)):
        env = TeamReward(world("0T.\n...\n..1"), reduce)
        env.unwrapped.crafter_state.facing[0] = 1, 0
        assert env.step({"agent_0": Action.do, "agent_1": Action.noop})[1] == {"agent_0": expected, "agent_1": expected}
    dying = TeamReward(world("0!.\nT1.\n..."))
    dying.step({"agent_0": Action.move_right, "agent_1": Action.move_left})
    rewards = dying.step({"agent_1": Action.do})[1]
    assert rewards == {"agent_1": 0.5}, "the dead count in the mean"
    with pytest.raises(WorldError, match="reduce = 'max'"):
        TeamReward(CrafterEnv(1), "max")


@pytest.mark.parametrize("arguments", [{"n": 2}, {"n": 1, "profile": "crafter", "obs": "both"}])
def test_gymnasiums_own_check_passes(arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*(Box observation space|different from the unwrapped version).*")
        check_env(gymnasium.make(ID, render_mode="rgb_array", max_steps=5, **arguments).unwrapped)


def test_a_team_is_a_world_of_the_batch_with_one_reward():
    layout = Layout.parse("0!.\n..T\n1..")
    team, batch = CrafterTeamEnv(layout=layout, max_steps=9), CrafterTeamVecEnv(2, layout=layout, max_steps=9)
    agents = CrafterVecEnv(2, layout=layout, max_steps=9)
    observation, info = team.reset(seed=4)
    for envs in (batch, agents):
        observations, infos = envs.reset(seed=4)
        infos["action_mask"] = envs.flat_masks() if envs is agents else infos["action_mask"]
        np.testing.assert_equal(({key: array[0] for key, array in observations.items()}), observation)
        np.testing.assert_equal({key: array[0] for key, array in infos.items()}, info)
    rng, ended = np.random.default_rng(0), False
    while not ended:
        joint = rng.integers(17 + 15 * 2, size=(2, 2))
        joint[1] = joint[0]
        observation, reward, terminated, truncated, info = team.step(joint[0])
        _, rewards, over, cut, _ = batch.step(joint)
        _, own, *_ = agents.step(read_flat(joint))
        assert (reward, terminated, truncated) == (rewards[0], over[0], cut[0])
        assert rewards.tolist() == own.mean(axis=1).tolist()
        np.testing.assert_array_equal(team.state(), batch.state()[0])
        np.testing.assert_array_equal(team.action_masks(), batch.action_masks()[0])
        ended = terminated or truncated
    assert truncated
    with pytest.raises(EpisodeError, match="reset"):
        team.step(joint[0])
    for actions, message in (([[0, 0]] * 3, "give integers"), ([[0, 0], [0, 47]], "world 1, agent_1: action 47")):
        with pytest.raises(ActionError, match=message):
            batch.step(actions)


def test_a_team_that_dies_is_terminated():
    team = CrafterTeamEnv(layout=Layout.parse("0!.\n...\n..."), reduce="sum")
    team.reset(seed=0)
    _, reward, terminated, truncated, info = team.step([Action.move_right])
    assert (reward, terminated, truncated, info["alive"].tolist()) == (-0.9, True, False, [False])


def test_ids_make_teams_and_batches():
    team = gymnasium.make(ID, n=2, level="hard")
    assert isinstance(team.unwrapped, CrafterTeamEnv)
    for mode in ("NextStep", "SameStep"):
        envs = gymnasium.make_vec(ID, num_envs=3, n=2, autoreset_mode=mode, max_steps=3)
        assert isinstance(envs, CrafterTeamVecEnv)
        assert envs.metadata["autoreset_mode"].value == mode
        envs.action_space.seed(0)
        observations, _ = envs.reset(seed=0)
        for _ in range(5):
            assert envs.observation_space.contains(observations)
            observations, rewards, *_, infos = envs.step(envs.action_space.sample())
            assert infos["action_mask"].shape == (3, 2, 17 + 15 * 2)
        assert rewards.shape == (3,)
        envs.close()


@pytest.mark.parametrize("order", ["import crafter_env, gymnasium", "import gymnasium, crafter_env"])
def test_the_ids_are_there_in_either_order_of_imports(order):
    code = f"{order}\nprint(gymnasium.spec('{ID}').id)"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ID

"""The shaped rewards of a batch are, to the bit, those of the single environment."""

import pickle

import numpy as np
import pytest

from cube_env import Action, CubeEnv, CubeVecEnv, Layout, Scenario, ShapedEnv, register_reward, reward_names
from cube_env import rewards as rewards_module
from tests.cube_env.boards import board

SMALL = Scenario(side=9, agents=4, blocks={1: 4, 2: 1})


def delivered_alone(before, after, report):
    """A reward of one's own that reads the report and both pictures."""
    return len(report.delivered) + 0.125 * len(report.pushes) - 0.5 * (before.agents == after.agents)


@pytest.fixture
def own_reward(monkeypatch):
    monkeypatch.setattr(rewards_module, "_REWARDS", dict(rewards_module._REWARDS))
    register_reward("alone", delivered_alone)
    return "alone"


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("name", ["default", "progress", "alignment", "alone"])
def test_a_shaped_batch_is_its_shaped_single_environments(name, mode, own_reward):
    assert name in reward_names()
    values = {"scenario": SMALL, "max_steps": 40, "step_cost": 0.03, "deliver_reward": 0.7}
    envs = CubeVecEnv(3, reward=name, autoreset_mode=mode, **values)
    envs.reset(seed=1)
    singles = [ShapedEnv(CubeEnv(**values), name) for _ in range(3)]
    for world, single in enumerate(singles):
        single.reset(seed=1 + world)
    rng = np.random.default_rng(0)
    ended = [False] * 3
    seen = set()
    for _ in range(250):
        actions = np.where(rng.random((3, 4)) < 0.7, Action.RIGHT, rng.integers(0, 5, (3, 4)))
        _, rewards, *_ = envs.step(actions)
        for world, single in enumerate(singles):
            if ended[world] and mode == "NextStep":
                single.reset()
                assert rewards[world] == 0.0
                ended[world] = False
                continue
            _, expected, terminations, truncations, _ = single.step(
                dict(zip(single.possible_agents, actions[world], strict=True))
            )
            assert rewards[world] == expected["agent_0"]
            seen.add(rewards[world])
            ended[world] = terminations["agent_0"] or truncations["agent_0"]
            if ended[world] and mode == "SameStep":
                single.reset()
    assert len(seen) >= (2 if name == "default" else 4)


def test_a_push_towards_the_goal_is_rewarded_by_hand():
    envs = CubeVecEnv(1, layout=Layout.parse(board("0A...|")), reward="progress", step_cost=0.0)
    envs.reset(seed=0)
    assert envs.step([[4]])[1].tolist() == pytest.approx([0.1])
    assert envs.step([[3]])[1].tolist() == [0.0]


def test_a_batch_with_a_reward_of_ones_own_can_be_pickled(own_reward):
    envs = CubeVecEnv(2, n=2, reward=own_reward)
    envs.reset(seed=0)
    envs.step(np.zeros((2, 2), dtype=int))
    other = pickle.loads(pickle.dumps(envs))
    assert other.step(np.full((2, 2), 1))[1].tolist() == envs.step(np.full((2, 2), 1))[1].tolist()

"""Every environment of agents keeps PettingZoo's contract, and actions drawn by its masks are legal."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from pettingzoo import ParallelEnv
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, render_test, seed_test
from pettingzoo.utils import parallel_to_aec

import crafter_env
import cube_env
import llamac_env
from crafter_env import FAILURES, CrafterEnv, CrafterTeamEnv, Result
from cube_env import CubeEnv, CubeTeamEnv, MoveFailure, Scenario, ShapedEnv
from llamac_env import Difficulty, Grid, SqueezeEnv, TransportEnv
from llamac_env.team import SqueezeTeamEnv, TransportTeamEnv
from llamac_env.transport.arrays import NOTHING
from quorum_base.environments.errors import WorldError

EASY, HARD = Grid(2, 2, Difficulty.easy), Grid(2, 4, Difficulty.hard)
CONFIGURATIONS: dict[str, Callable[..., ParallelEnv]] = {
    "cube": lambda **o: CubeEnv(3, max_steps=40, **o),
    "cube live views": lambda **o: CubeEnv(3, max_steps=40, copy=False, **o),
    "cube scenario": lambda **o: CubeEnv(scenario=Scenario(7, 2, {1: 2, 2: 1}), max_steps=40, **o),
    "cube flat": lambda **o: cube_env.FlatObservations(CubeEnv(3, max_steps=40, **o)),
    "cube egocentric": lambda **o: cube_env.Egocentric(CubeEnv(3, max_steps=40, **o)),
    "cube shaped": lambda **o: ShapedEnv(CubeEnv(2, max_steps=40, **o), "progress"),
    "crafter": lambda **o: CrafterEnv(1, profile="crafter", max_steps=40, **o),
    "crafter coop": lambda **o: CrafterEnv(3, max_steps=40, **o),
    "crafter coop2": lambda **o: CrafterEnv(3, profile="coop2", max_steps=40, **o),
    "crafter live views": lambda **o: CrafterEnv(3, max_steps=40, copy=False, **o),
    "crafter pixels": lambda **o: CrafterEnv(2, obs="pixels", max_steps=20, **o),
    "crafter both": lambda **o: CrafterEnv(2, obs="both", max_steps=20, **o),
    "crafter flat actions": lambda **o: crafter_env.FlatActions(CrafterEnv(3, max_steps=40, **o)),
    "crafter flat": lambda **o: crafter_env.FlatObservations(CrafterEnv(3, max_steps=40, **o)),
    "crafter egocentric": lambda **o: crafter_env.Egocentric(CrafterEnv(3, max_steps=40, **o)),
    "transport easy": lambda **o: TransportEnv(EASY, **o),
    "transport hard": lambda **o: TransportEnv(HARD, **o),
    "transport flat": lambda **o: llamac_env.FlatObservations(TransportEnv(HARD, **o)),
    "transport egocentric": lambda **o: llamac_env.Egocentric(TransportEnv(HARD, **o), radius=1),
    "squeeze": lambda **o: SqueezeEnv(5, **o),
}
LACKS_OTHERS = {Result.too_few_agents, Result.no_luck, Result.missing_input}
"""Failures for which the agent itself lacks nothing; the inputs of a joint craft are the leader's to bring."""
every_configuration = pytest.mark.parametrize("make", CONFIGURATIONS.values(), ids=CONFIGURATIONS)


@pytest.fixture(autouse=True)
def advice_is_no_failure() -> Iterator[None]:
    """PettingZoo warns of dictionaries of observations, of sparse ones, and of options of `reset`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@every_configuration
def test_the_tests_of_pettingzoo_pass(make, capsys):
    parallel_api_test(make(), num_cycles=25)
    api_test(parallel_to_aec(make()), num_cycles=25)
    parallel_seed_test(make, num_cycles=15)
    seed_test(lambda: parallel_to_aec(make()), num_cycles=15)
    render_test(lambda render_mode: parallel_to_aec(make(render_mode=render_mode)))
    assert make().metadata["render_modes"] == ["human", "ansi", "rgb_array"]


def mask_of(observation: Any, info: dict[str, Any]) -> Any:
    """The mask of an agent, wherever it is."""
    return info["action_mask"] if "action_mask" in info else observation["action_mask"]


def is_legal(env: Any, name: str, action: Any, before: list[int]) -> bool:
    """Whether the world counts no illegal action of the one agent that has acted."""
    if isinstance(env, CubeEnv):
        return all(move.reason != MoveFailure.wall for move in env.report.failed_moves)  # others may free the way
    if isinstance(env, TransportEnv):
        return not env.report.failed
    if isinstance(env, CrafterEnv):
        return env.outcome(name).result not in FAILURES - LACKS_OTHERS or facing(env, name) != before
    return 0 <= action <= 9


def facing(env: Any, name: str) -> list[int]:
    return env.crafter_state.facing[env.possible_agents.index(name)].tolist() if isinstance(env, CrafterEnv) else []


@every_configuration
def test_an_action_drawn_by_a_mask_is_legal(make):
    env = make()
    inner, still = env.unwrapped, NOTHING if isinstance(env.unwrapped, TransportEnv) else 0
    for index, name in enumerate(env.possible_agents):
        env.action_space(name).seed(index)
    observations, infos = env.reset(seed=0)
    for step in range(300):
        if not env.agents:
            observations, infos = env.reset()
        name = env.agents[step % len(env.agents)]
        action = env.action_space(name).sample(mask_of(observations[name], infos[name]))
        assert env.action_space(name).contains(action)
        before = facing(inner, name)
        observations, _, _, _, infos = env.step({**dict.fromkeys(env.agents, still), name: action})
        assert is_legal(inner, name, action, before), (step, name, action)


@pytest.mark.parametrize(
    "make",
    [lambda: CubeTeamEnv(3), lambda: CrafterTeamEnv(3), lambda: TransportTeamEnv(n=8), lambda: SqueezeTeamEnv(3)],
)
def test_a_team_draws_joint_actions_by_its_masks(make):
    env = make()
    _, info = env.reset(seed=0)
    for _ in range(20):
        joint = env.action_space.sample(info["action_mask"])
        assert info["action_mask"][np.arange(len(joint)), joint].all()
        _, _, terminated, truncated, info = env.step(joint)
        if terminated or truncated:
            _, info = env.reset()


@every_configuration
def test_a_person_sees_every_reset_and_step_in_the_terminal(make, capsys):
    env, text = make(render_mode="human"), make(render_mode="ansi")
    for move in (lambda each: each.reset(seed=0), lambda each: each.step(dict.fromkeys(each.agents, 0))):
        move(env)
        move(text)
        shown = capsys.readouterr().out
        assert shown.rstrip() == text.render().rstrip()
    assert env.render() is None
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize("make", [cube_env.CubeVecEnv, crafter_env.CrafterVecEnv, crafter_env.CrafterTeamVecEnv])
def test_a_batch_writes_to_no_terminal(make):
    with pytest.raises(WorldError, match="choose one of 'ansi', 'rgb_array'"):
        make(2, 2, render_mode="human")
    assert make(2, 2).metadata["render_modes"] == ["ansi", "rgb_array"]

"""The Gaussian squeeze (section 3): its rules, the environment, and the world in the loop."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace
from math import exp, inf

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test

from llamac_env import ActionError, EpisodeError, Game, Pick, SqueezeEnv, WorldError, curve, draw_game, make_game
from llamac_env.squeeze.symbolic.picture import _LAST, KINDS
from llamac_env.squeeze.world import SqueezeConfig, SqueezeWorld
from maeil.metrics.task_history import cooperative
from maeil.plans import Plan, Task
from quorum_base.painting.colours import parse

DEFAULTS = {
    "name": "squeeze", "n": 3, "rho": 0.5, "mu": None, "sigma": None, "picks": "coordinator", "hint": False,
    "text": {"max_agents": 10}, "max_steps": 30,
}  # fmt: skip


def world(**changes):
    found = SqueezeWorld(SqueezeConfig(**{**DEFAULTS, **changes}))
    found.reset(0)
    return found


def test_the_reward_is_the_formula_of_the_paper():
    game = make_game(10, rho=0.5)
    assert (game.mu, game.sigma, game.highest) == (45, 22.5, 90)
    assert game.reward(45) == 45
    assert game.reward(60) == pytest.approx(60 * exp(-(15**2) / 22.5**2))
    assert game.reward(0) == 0


@pytest.mark.parametrize("agents", [1, 2, 3, 5, 10, 20, 50])
@pytest.mark.parametrize("rho", [0.1, 0.25, 0.37, 0.5, 0.61, 0.75, 0.9, 1.0])
def test_the_best_sum_is_that_of_brute_force(agents, rho):
    game = make_game(agents, rho=rho)
    rewards = [game.reward(x) for x in range(game.highest + 1)]
    assert rewards[game.best_x] == max(rewards) == game.best_reward


def test_rho_is_given_or_drawn_from_a_quarter_to_three_quarters():
    assert draw_game(5, 0.5, np.random.default_rng(0)).rho == 0.5
    drawn = [draw_game(5, None, np.random.default_rng(seed)).rho for seed in range(100)]
    assert 0.25 <= min(drawn) < 0.35
    assert 0.65 < max(drawn) <= 0.75


def test_a_curve_has_last_best_regret_and_rounds_to_95_percent():
    game = make_game(3, rho=0.5)
    best, poor = game.best_reward, game.reward(1)
    judged = curve(game, [poor, best, poor])
    assert judged.last == poor / best
    assert judged.best == 1
    assert judged.regret == pytest.approx(2 * (best - poor))
    assert judged.rounds_to_close == 2
    assert curve(game, [poor]).rounds_to_close is None
    with pytest.raises(WorldError, match="needs at least one round"):
        curve(game, [])


def test_it_is_a_parallel_environment_with_masks():
    parallel_api_test(SqueezeEnv(5), num_cycles=60)
    parallel_seed_test(lambda: SqueezeEnv(5, rho=None))
    observations, _ = SqueezeEnv(3).reset(seed=0)
    assert observations["agent_0"]["action_mask"].tolist() == [1] * 10
    assert observations["agent_0"]["observation"].tolist() == [-1, 0]


def test_every_round_pays_all_agents_and_the_last_truncates():
    env = SqueezeEnv(3, rounds=2)
    env.reset(seed=0)
    observations, rewards, terminations, truncations, _ = env.step({"agent_2": 9, "agent_0": 1, "agent_1": 4})
    assert set(rewards.values()) == {env.game.reward(14)}
    assert observations["agent_2"]["observation"].tolist() == [9, np.float32(env.game.reward(14))]
    assert not any((*terminations.values(), *truncations.values()))
    *_, truncations, _ = env.step(dict.fromkeys(env.agents, 0))
    assert all(truncations.values())
    assert (env.sums, env.agents) == ((14, 0), [])
    with pytest.raises(EpisodeError):
        env.play([0, 0, 0])


def test_agents_know_their_own_picks_and_the_rewards_the_outsider_knows_all():
    env = SqueezeEnv(3, infos="symbolic")
    env.reset(seed=0)
    *_, infos = env.step({"agent_0": 1, "agent_1": 4, "agent_2": 9})
    own = infos["agent_1"]["symbolic"].history[0]
    assert (own.pick, own.reward, own.picks, own.mean) == (4, env.game.reward(14), (), None)
    seen = env.symbolic_observation(None)
    assert (seen.history[0].picks, seen.history[0].mean) == ((1, 4, 9), 14 / 3)
    assert json.loads(infos["agent_1"]["symbolic"].text())["history"]["your_pick"] == [4]
    assert not {"mu", "sigma", "best_x"} & set(type(seen).__slots__)


@pytest.mark.parametrize(
    ("seers", "agent", "outside"), [("coordinator", (), (1, 4, 9)), ("all", (1, 4, 9), (1, 4, 9)), ("nobody", (), ())]
)
def test_who_sees_the_picks_one_by_one_is_a_key_and_sums_are_seen_from_outside(seers, agent, outside):
    env = SqueezeEnv(3, picks=seers, infos="symbolic")
    env.reset(seed=0)
    *_, infos = env.step({"agent_0": 1, "agent_1": 4, "agent_2": 9})
    own, seen = env.symbolic_observation(1).history[0], env.symbolic_observation(None).history[0]
    assert (own.pick, own.picks, own.sum) == (4, agent, 14 if seers == "all" else None)
    assert (seen.pick, seen.picks, seen.sum, seen.mean) == (None, outside, 14, 14 / 3)
    assert infos["agent_1"]["report"].picks == (1, 4, 9), "what happened, shown to nobody in the game"
    env = SqueezeEnv(3, picks="all", listed=2)
    env.reset(seed=0)
    env.play([1, 4, 9])
    assert (env.symbolic_observation(0).history[0].picks, env.symbolic_observation(0).history[0].sum) == ((), 14)


def test_the_centre_and_the_width_of_the_curve_can_be_given():
    w = world(mu=20.0, sigma=3.0)
    reported = w.reset(0)
    assert (reported["mu"], reported["sigma"], reported["rho"]) == (20, 3, 20 / 27)
    assert reported["best_x"] == max(range(28), key=w.env.game.reward) == 20
    assert world(mu=20.0, rho=None).reset(1)["sigma"] == 10
    assert world(rho=None, sigma=3.0).reset(1)["mu"] == world(rho=None).reset(1)["mu"]
    wide = make_game(3, rho=0.5, sigma=1e308)
    assert wide.best_x == wide.highest


def test_what_was_seen_stays_as_it_was_when_the_game_goes_on_and_copies_hold_it_alone():
    env = SqueezeEnv(2)
    env.reset(seed=0)
    empty = env.symbolic_observation(1)
    env.play([1, 2])
    seen = env.symbolic_observation(1)
    rounds = tuple(seen.history)
    env.play([3, 4])
    env.play([5, 6])
    later = env.symbolic_observation(1)
    assert (len(empty.history), tuple(seen.history), len(later.history)) == (0, rounds, 3)
    assert [past.pick for past in later.history] == [2, 4, 6]
    assert [past.pick for past in later.history[-2:]] == [4, 6]
    assert (later.history[-1].pick, rounds[0] in later.history) == (6, True)
    with pytest.raises(IndexError):
        seen.history[1]
    assert seen == replace(seen, history=rounds) != later
    assert hash(seen) == hash(pickle.loads(pickle.dumps(seen)))
    assert len(pickle.dumps(seen)) == len(pickle.dumps(copy.deepcopy(seen))) < len(pickle.dumps(later))
    env.reset(seed=1)
    assert tuple(seen.history) == rounds


@pytest.mark.parametrize("actions", [{}, {"agent_0": 0, "agent_1": 0}, {"agent_0": 0, "agent_1": 0, "agent_2": 10}])
def test_what_is_no_joint_pick_is_refused(actions):
    env = SqueezeEnv(3)
    env.reset(seed=0)
    with pytest.raises(ActionError):
        env.step(actions)
    assert env.sums == ()


@pytest.mark.parametrize(
    "make",
    [lambda: make_game(0, rho=0.5), lambda: Game(3, 0, 1), lambda: Game(3, 28, 1), lambda: Game(3, 9, 0.05),
     lambda: Game(3, 9, inf), lambda: SqueezeEnv(3, mu=28), lambda: SqueezeEnv(3, sigma=0),
     lambda: SqueezeEnv(3, picks="me"),      lambda: SqueezeEnv(3, rounds=0), lambda: SqueezeEnv(3, render_mode="x"),
     lambda: SqueezeEnv(3, rho=2), lambda: SqueezeEnv(3).render()],
)  # fmt: skip
def test_wrong_arguments_are_refused(make):
    with pytest.raises(WorldError):
        make()


def test_it_is_drawn_as_text_and_as_an_image():
    env = SqueezeEnv(3, render_mode="ansi")
    env.reset(seed=0)
    env.play([5, 5, 5])
    assert "best sum 15 of 27" in env.render()
    assert "sum   15" in env.render()
    env.render_mode = "rgb_array"
    image = env.render()
    assert (image.shape, image.dtype) == ((21 * 24 + 1, 30 * 24 + 1, 3), np.uint8)
    assert (image == parse(KINDS[_LAST].light)).all(axis=2).any()


def test_in_the_loop_the_goal_is_reached_while_the_last_round_is_close():
    w = world(max_steps=2)
    best = w.env.game.best_x
    assert len(w.constraints([9, 9, 9], [None] * 3)) == 1
    first = w.step([9, 9, 9])
    assert (first.end, w.progress().reached) == (None, 0)
    assert first.attempts[0].succeeded is False
    state = w.constraints([best, 0, 0], [None] * 3)[0]
    assert cooperative(state)
    assert w.constraints([best, 0, 0], [None] * 3) == ()
    last = w.step([min(best, 9), best - min(best, 9), 0])
    assert last.end == "success"
    assert (w.progress().reached, w.progress().score) == (1, 1.0)
    assert last.outcomes[0]["x"] == best
    missed = world(max_steps=1)
    transition = missed.step([0, 0, 0])
    assert transition.end == "truncated"


def test_a_pick_takes_one_round():
    w = world()
    controller = w.start_action(0, Pick(units=7))
    assert controller.status() is None
    assert controller.act() == 7
    assert controller.status().status == "success"
    assert w.distance(0, 1) is None
    assert w.idle == Pick(units=0)


def test_there_is_one_task():
    squeeze = world()
    assert squeeze.tasks(0) == {"allocate": ["system"]}
    assert squeeze.check_plan(0, Plan((Pick(units=1),), Task("allocate", "system"))) == ()
    assert squeeze.check_plan(0, Plan((Pick(units=1),), Task("allocate", "block_7"))) == (
        "there is no task allocate:block_7; there are, for example, allocate:system",
    )


def test_a_seed_names_the_game():
    drawn = world(rho=None)
    assert drawn.reset(3) == world(rho=None).reset(3) != drawn.reset(4)

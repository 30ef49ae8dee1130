"""A batch of boards is so many single ones."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from llamac_env import ActionError, EpisodeError, TransportEnv, TransportVecEnv, WorldError
from llamac_env.transport.arrays import PRIMITIVES
from tests.llamac_env.boards import grid

NEXT_STEP, SAME_STEP = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP
RULES = [("easy", "final_state"), ("hard", "final_state"), ("hard", "start_empty")]


_LIKING = np.where(np.arange(PRIMITIVES) % 5, 1.0, 9.0)  # of moves onto targets
_LIKING[0] = 0.1


def drawn_actions(rng, masks):
    """Mostly moves that can be made, so that boards end; among them any action."""
    free = rng.integers(PRIMITIVES, size=masks.shape[:-1])
    likely = np.argmax(rng.random(masks.shape) * masks * _LIKING, axis=-1)
    return np.where(rng.random(free.shape) < 0.15, free, likely)


@pytest.mark.parametrize("shape", [(2, 2), (2, 4), (1, 3)])
@pytest.mark.parametrize(("difficulty", "rule"), RULES)
def test_a_batch_is_so_many_single_environments(shape, difficulty, rule):
    where = grid(*shape, difficulty, rule)
    envs, singles = TransportVecEnv(6, where, max_steps=20), [TransportEnv(where, max_steps=20) for _ in range(6)]
    seen, infos = envs.reset(seed=8)
    expected = [single.reset(seed=8 + world) for world, single in enumerate(singles)]
    rng, ended, ends = np.random.default_rng(0), [False] * 6, {"terminated": 0, "truncated": 0, "collided": 0}
    for _ in range(100):
        for world, (observations, reported) in enumerate(expected):
            own = [observations[name] for name in singles[world].possible_agents]
            np.testing.assert_array_equal(seen[world], [agent["observation"] for agent in own])
            np.testing.assert_array_equal(infos["action_mask"][world], [agent["action_mask"] for agent in own])
            np.testing.assert_array_equal(infos["moved"][world], [reported[name]["moved"] for name in reported])
            for name in ("placed", "boxes_left", "collided"):
                assert infos[name][world] == reported["agent_0"][name]
            assert infos["step"][world] == singles[world].steps
            assert envs.board(world) == singles[world].board
            np.testing.assert_array_equal(envs.state()[world], singles[world].state())
        actions = drawn_actions(rng, infos["action_mask"])
        seen, rewards, terminations, truncations, infos = envs.step(actions)
        for world, single in enumerate(singles):
            if ended[world]:
                expected[world] = single.reset()
                assert (rewards[world], terminations[world], truncations[world]) == (0, False, False)
            else:
                joint = dict(zip(single.possible_agents, actions[world].tolist(), strict=True))
                observations, won, over, cut, reported = single.step(joint)
                expected[world] = observations, reported
                assert (rewards[world], terminations[world], truncations[world]) == (
                    won["agent_0"], over["agent_0"], cut["agent_0"],
                )  # fmt: skip
                ends["terminated"] += over["agent_0"]
                ends["truncated"] += cut["agent_0"]
                ends["collided"] += reported["agent_0"]["collided"]
            ended[world] = not single.agents
    assert ends["terminated"]
    assert ends["truncated"] or difficulty == "hard"
    assert ends["collided"] or difficulty == "easy"


def played(envs, steps, seed=0):
    rng, found = np.random.default_rng(seed), []
    for _ in range(steps):
        *step, infos = envs.step(drawn_actions(rng, envs.action_masks()))
        found.append((*step, {**infos, "final_obs": list(infos.get("final_obs", ()))}))
    return copy.deepcopy(found)


@pytest.mark.parametrize("options", [{}, {"copy": False}, {"autoreset_mode": SAME_STEP}, {"infos": "none"}])
@pytest.mark.parametrize("twin", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_goes_on_in_step_with_the_original(options, twin):
    envs = TransportVecEnv(3, grid(2, 2, "hard"), max_steps=6, **options)
    envs.reset(seed=3)
    played(envs, 10)
    other = twin(envs)
    mine = played(envs, 40, seed=1)
    np.testing.assert_equal(played(other, 40, seed=1), mine)


def test_both_modes_of_autoreset_play_the_same_episodes():
    late, soon = (TransportVecEnv(1, grid(2, 2, "hard"), max_steps=5, autoreset_mode=mode) for mode in _modes())
    assert soon.metadata["autoreset_mode"] is SAME_STEP
    np.testing.assert_equal(soon.reset(seed=0), late.reset(seed=0))
    rng, ended = np.random.default_rng(0), 0
    for _ in range(60):
        actions = drawn_actions(rng, late.action_masks())
        expected, found = late.step(actions), soon.step(actions)
        np.testing.assert_equal(found[1:4], expected[1:4])
        if expected[2] | expected[3]:
            ended += 1
            assert found[4]["_final_obs"].tolist() == found[4]["_final_info"].tolist() == [True]
            np.testing.assert_array_equal(found[4]["final_obs"][0], expected[0][0])
            np.testing.assert_equal(found[4]["final_info"], expected[4])
            expected = late.step(actions)
        np.testing.assert_equal(found[0], expected[0])
        np.testing.assert_equal({name: found[4][name] for name in expected[4]}, expected[4])
    assert ended > 10


def _modes():
    return NEXT_STEP, "SameStep"


def test_what_a_batch_gives_is_of_its_spaces_and_stays_as_it_was():
    envs = TransportVecEnv(2, grid(2, 4, "easy"))
    given = envs.reset(seed=0)
    kept = copy.deepcopy(given)
    for seen, *_ in played(envs, 20):
        assert envs.observation_space.contains(seen)
        assert envs.state_space.contains(envs.state())
    np.testing.assert_equal(given, kept)
    _, rewards, *_ = envs.step(np.zeros((2, 8), dtype=int))
    rewards += 1
    assert envs.action_space.contains(envs.action_space.sample())
    assert given[1]["alive"].all()
    with pytest.raises(ValueError, match="read-only"):
        TransportVecEnv(2, grid(2, 4, "easy"), copy=False).reset(seed=0)[1]["moved"][...] = True
    envs.close()


def test_every_board_can_be_drawn():
    envs = TransportVecEnv(2, grid(2, 2, "hard"), render_mode="ansi")
    single = TransportEnv(grid(2, 2, "hard"), render_mode="ansi")
    envs.reset(seed=4)
    single.reset(seed=5)
    assert envs.render()[1] == single.render()


@pytest.mark.parametrize("seed", [1.9, "3", [1, 2.5], [1], -1])
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(WorldError, match="seed"):
        TransportVecEnv(2, grid(2, 2, "easy")).reset(seed=seed)


def test_seeds_can_be_one_for_each_board_and_go_on():
    envs, twin = (TransportVecEnv(2, grid(2, 2, "easy")) for _ in range(2))
    envs.reset(seed=[4, 9])
    twin.reset(seed=9)
    assert envs.board(1) == twin.board(0)
    before = envs.board(1)
    envs.reset(seed=[4, None])
    assert envs.board(1) != before


def test_wrong_calls_are_named():
    where = grid(2, 2, "easy")
    for options in ({"num_envs": 0}, {"num_envs": 1.5}, {"infos": "symbolic"}, {"autoreset_mode": "sometimes"}):
        with pytest.raises(WorldError, match=f"{next(iter(options))} = "):
            TransportVecEnv(**{"num_envs": 2, "grid": where, **options})
    envs = TransportVecEnv(2, where)
    for call in (envs.state, envs.action_masks, lambda: envs.step(np.zeros((2, 4), dtype=int))):
        with pytest.raises(EpisodeError, match="reset"):
            call()
    envs.reset(seed=0)
    before = envs.state()
    with pytest.raises(ActionError, match="world 1, agent_0: action 26 is none of 0 to 25"):
        envs.step(np.array([[0] * 4, [26, 0, 0, 0]]))
    for actions in (np.zeros((2, 3), dtype=int), np.zeros((2, 4)), [[0] * 4, [0]], [[0, 0, 0, 2**70], [0] * 4], None):
        with pytest.raises(ActionError, match=r"give integers of shape \(2, 4\)"):
            envs.step(actions)
    with pytest.raises(WorldError, match="takes no options"):
        envs.reset(options={"board": None})
    with pytest.raises(WorldError, match="no render mode"):
        envs.render()
    assert (envs.state() == before).all()

"""What a learner relies on, in both worlds: copies that live, plain infos, arrays that stay, nothing cut to fit."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from llamac_env import (
    ActionError,
    Difficulty,
    EpisodeError,
    Grid,
    Round,
    SqueezeEnv,
    SqueezeObservation,
    Step,
    TransportEnv,
    TransportObservation,
    WorldError,
)

WORLDS = {
    "easy": lambda **options: TransportEnv(Grid(2, 2, Difficulty.easy), **options),
    "hard": lambda **options: TransportEnv(Grid(2, 4, Difficulty.hard), **options),
    "squeeze": lambda **options: SqueezeEnv(4, rho=None, **options),
}
ALL = pytest.mark.parametrize("make", WORLDS.values(), ids=WORLDS)


def played(env, steps, seed=0):
    """Everything that an environment gives under random actions, from where it stands, over several episodes."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(steps):
        if not env.agents:
            found.append(env.reset())
        masks = env.action_masks()
        found.append(env.step({name: int(rng.choice(np.flatnonzero(masks[name]))) for name in env.agents}))
        found.append(env.state())
    return found


@ALL
@pytest.mark.parametrize("infos", ["none", "plain", "symbolic"])
@pytest.mark.parametrize("twin", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_goes_on_in_step_with_the_original(make, infos, twin):
    env = make(infos=infos)
    env.reset(seed=5)
    played(env, 4)
    other, kept = twin(env), twin(env)
    mine = played(env, 70, seed=1)
    np.testing.assert_equal(played(other, 70, seed=1), mine)
    np.testing.assert_equal(played(kept, 70, seed=1), mine)


@ALL
def test_infos_are_of_the_kind_that_was_asked_for(make):
    for infos in ("none", "plain", "symbolic"):
        env = make(infos=infos)
        _, started = env.reset(seed=0)
        *_, later = env.step(dict.fromkeys(env.agents, 0))
        keys = [set(info) for reported in (started, later) for info in reported.values()]
        assert all(key == keys[0] for key in keys)
        if infos == "plain":
            assert keys[0]
            assert all(type(value) in (int, bool) for info in started.values() for value in info.values())
        else:
            assert keys[0] == ({"symbolic", "report"} if infos == "symbolic" else set())
    assert isinstance(later["agent_0"]["symbolic"], TransportObservation | SqueezeObservation)
    assert isinstance(later["agent_0"]["report"], Step | Round)
    assert started["agent_0"]["report"] is None


def test_plain_infos_say_what_a_step_did():
    env = TransportEnv(Grid(1, 2, Difficulty.easy))
    for seed in range(30):
        _, infos = env.reset(seed=seed)
        assert infos["agent_1"] == {"moved": False, "placed": 0, "boxes_left": env.boxes, "step": 0, "collided": False}
        while env.agents:
            masks = env.action_masks()
            *_, infos = env.step({name: int(np.flatnonzero(masks[name])[-1]) for name in env.agents})
            assert env.report is not None
            for agent, info in enumerate(infos.values()):
                assert info["moved"] == (agent in env.report.moved)
                assert info["placed"] == len(env.report.placed)
                assert info["boxes_left"] == len(env.board.boxes)
    squeeze = SqueezeEnv(2)
    assert squeeze.reset(seed=0)[1]["agent_0"] == {"round": 0, "sum": 0}
    assert squeeze.step({"agent_0": 3, "agent_1": 9})[4]["agent_1"] == {"round": 1, "sum": 12}


@ALL
def test_what_was_given_out_stays_and_agents_share_nothing(make):
    env = make()
    observations, infos = env.reset(seed=0)
    kept = copy.deepcopy((observations, infos))
    played(env, 10)
    np.testing.assert_equal((observations, infos), kept)
    for array in observations["agent_0"].values():
        array[...] = 1
    infos["agent_0"].clear()
    np.testing.assert_equal((observations["agent_1"], infos["agent_1"]), (kept[0]["agent_1"], kept[1]["agent_1"]))
    shown, _ = make(copy=False).reset(seed=0)
    assert not any(array.flags.writeable for seen in shown.values() for array in seen.values())


@ALL
def test_states_are_of_their_space_and_tell_what_agents_do_not(make):
    env = make()
    env.reset(seed=0)
    for state in played(env, 10)[1::2]:
        assert not isinstance(state, np.ndarray) or env.state_space.contains(state)
    assert env.state_space.contains(env.state())
    if isinstance(env, SqueezeEnv):
        env.reset(seed=3)
        env.step({"agent_0": 1, "agent_1": 2, "agent_2": 3, "agent_3": 9})
        reward, rho = env.game.reward(15), env.game.rho
        assert env.state().tolist() == np.array([1, 2, 3, 9, reward, 1, rho], dtype=np.float32).tolist()


@ALL
@pytest.mark.parametrize("action", [1.9, 1.0, "3", None, 2**70, -1, float("nan"), np.float32(1), [1], (1,)])
def test_an_action_is_never_cut_to_fit(make, action):
    env = make()
    env.reset(seed=0)
    before = env.state()
    with pytest.raises(ActionError, match=r"agent_1: action .* is none of 0 to"):
        env.step({**dict.fromkeys(env.agents, 0), "agent_1": action})
    assert (env.state() == before).all()


@ALL
def test_what_is_no_dictionary_of_the_agents_actions_is_refused(make):
    env = make()
    env.reset(seed=0)
    names = env.possible_agents
    for actions in (None, 3, [0] * 4, {}, dict.fromkeys(range(len(names)), 0), {**dict.fromkeys(names, 0), 7: 0}):
        with pytest.raises(ActionError):
            env.step(actions)
    env.step({name: np.int64(0) for name in reversed(names)})


def test_a_large_team_is_not_listed_in_a_message():
    env = SqueezeEnv(900)
    env.reset(seed=0)
    with pytest.raises(ActionError, match="agent_2 and 897 more: a step needs one") as found:
        env.step({})
    assert len(str(found.value)) < 200


@ALL
def test_seeds_are_integers_from_0_on(make):
    env = make()
    for seed in (np.int64(3), np.uint8(3), np.array(3)):
        np.testing.assert_equal(env.reset(seed=seed), make().reset(seed=3))
    for seed in (1.9, "3", 3.0, -1, [3]):
        with pytest.raises(WorldError, match=r"seed = .*: give an integer"):
            env.reset(seed=seed)


@pytest.mark.parametrize(
    ("make", "arguments"),
    [
        (WORLDS["easy"], {"max_steps": 1.5}),
        (WORLDS["easy"], {"max_steps": "9"}),
        (WORLDS["easy"], {"infos": "all"}),
        (WORLDS["squeeze"], {"rounds": 1.5}),
        (WORLDS["squeeze"], {"infos": None}),
    ],
)
def test_arguments_are_not_cut(make, arguments):
    (name,) = arguments
    with pytest.raises(WorldError, match=f"{name} = "):
        make(**arguments)


def test_a_team_and_a_grid_are_what_they_should_be():
    with pytest.raises(WorldError, match=r"n = 2\.5"):
        SqueezeEnv(2.5)
    with pytest.raises(WorldError, match="grid is a int"):
        TransportEnv(8)


@ALL
def test_every_environment_has_its_metadata_and_can_be_closed(make):
    env = make()
    env.close()
    assert {"name", "render_modes", "render_fps"} <= set(env.metadata)
    with pytest.raises(EpisodeError):
        env.step(dict.fromkeys(env.possible_agents, 0))


def test_everybody_is_told_of_the_board_in_one_object():
    env = TransportEnv(Grid(2, 4, Difficulty.hard), infos="symbolic")
    _, infos = env.reset(seed=0)
    boards = {id(info["symbolic"].board) for info in infos.values()}
    assert len(boards) == 1
    *_, later = env.step(dict.fromkeys(env.agents, 0))
    assert later["agent_0"]["symbolic"].step == 1

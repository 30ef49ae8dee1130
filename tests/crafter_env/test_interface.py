"""What a learner relies on: copies that live, infos of one kind, arrays that stay, arguments that are not cut."""

import copy
import pickle

import numpy as np
import pytest
from gymnasium.spaces import unflatten

from crafter_env import (
    Achievement,
    Action,
    ActionError,
    CrafterEnv,
    FlatObservations,
    Item,
    Layout,
    LocalView,
    Material,
    Outcome,
    Result,
    WorldError,
)
from tests.crafter_env.boards import world

TWINS = [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env)), lambda env: copy.deepcopy(copy.deepcopy(env))]


def played(env, steps, seed=0):
    """Everything that an environment gives under random actions, from where it stands, over several episodes."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(steps):
        if not env.agents:
            found.append(env.reset())
        found.append(copy.deepcopy(env.step({agent: int(rng.integers(17)) for agent in env.agents})))
        found.append((env.state(), env.action_masks()))
    return found


@pytest.mark.parametrize("arguments", [{"obs": "both"}, {"copy": False}, {"infos": "none", "profile": "coop2"}])
@pytest.mark.parametrize("twin", TWINS)
def test_a_copy_goes_on_in_step_with_the_original(arguments, twin):
    env = CrafterEnv(2, max_steps=60, **arguments)
    env.reset(seed=5)
    played(env, 30)
    other, kept = twin(env), twin(env)
    mine = played(env, 80, seed=1)
    np.testing.assert_equal(played(other, 80, seed=1), mine)
    assert kept.crafter_state.step == 30
    np.testing.assert_equal(played(kept, 80, seed=1), mine)


@pytest.mark.filterwarnings("ignore")
def test_copies_of_supersuit_live():
    supersuit = pytest.importorskip("supersuit", reason="pip install 'quorum-harness[learners]'")
    env = FlatObservations(CrafterEnv(1, profile="crafter", max_steps=50))
    batch = supersuit.concat_vec_envs_v1(supersuit.pettingzoo_env_to_vec_env_v1(env), 2, num_cpus=0)
    batch.reset(seed=0)
    rng, ends, rewards = np.random.default_rng(0), np.zeros(2), np.zeros(2)
    for _ in range(300):
        _, gained, over, cut, _ = batch.step(rng.integers(17, size=2))
        ends += over | cut
        rewards += gained != 0
    assert (ends >= 6).all()
    assert (rewards > 0).all()


def test_a_copied_space_draws_the_same_actions():
    env = CrafterEnv(1)
    env.action_space("agent_0").seed(0)
    other = copy.deepcopy(env)
    drawn = [[each.action_space("agent_0").sample().tolist() for _ in range(9)] for each in (env, other)]
    assert drawn[0] == drawn[1]


def test_a_copy_before_the_first_reset_can_be_reset():
    other = copy.deepcopy(CrafterEnv(2))
    np.testing.assert_equal(other.reset(seed=0), CrafterEnv(2).reset(seed=0))


def test_states_and_saved_moments_can_be_pickled():
    env = CrafterEnv(2)
    env.reset(seed=0)
    played(env, 20)
    saved = pickle.loads(pickle.dumps(env.save()))
    state = pickle.loads(pickle.dumps(env.crafter_state))
    mine = played(env, 20, seed=1)
    assert (state.materials == saved.state.materials).all()
    env.load(saved)
    np.testing.assert_equal(played(env, 20, seed=1), mine)
    assert len(pickle.dumps(env)) < 400_000


def test_infos_are_of_the_kind_that_was_asked_for():
    for infos, keys in (
        ("none", set()),
        ("plain", {"achievements", "action_mask"}),
        ("symbolic", {"symbolic", "report"}),
    ):
        env = CrafterEnv(2, infos=infos)
        _, reported = env.reset(seed=0)
        assert [set(info) for info in reported.values()] == [keys, keys]
        assert infos != "symbolic" or reported["agent_0"]["report"] is None
        *_, reported = env.step({"agent_0": 0, "agent_1": 0})
        assert [set(info) for info in reported.values()] == [keys, keys]
    assert isinstance(reported["agent_0"]["symbolic"], LocalView)
    assert reported["agent_1"]["report"] == env.outcome("agent_1")
    assert isinstance(reported["agent_1"]["report"], Outcome)


def test_what_was_given_out_stays_and_agents_share_nothing():
    env = CrafterEnv(2, obs="both")
    observations, infos = env.reset(seed=0)
    kept = copy.deepcopy((observations, infos))
    played(env, 20)
    np.testing.assert_equal((observations, infos), kept)
    for array in (*observations["agent_0"].values(), *infos["agent_0"].values()):
        array[...] = 1
    assert observations["agent_1"]["daylight"] == kept[0]["agent_1"]["daylight"]
    np.testing.assert_equal((observations["agent_1"], infos["agent_1"]), (kept[0]["agent_1"], kept[1]["agent_1"]))


def test_without_copies_the_next_step_overwrites_what_was_given_out():
    env, twin = CrafterEnv(2, copy=False), CrafterEnv(2)
    observations, infos = env.reset(seed=0)
    twin.reset(seed=0)
    with pytest.raises(ValueError, match="read-only"):
        observations["agent_0"]["pose"][0] = 3
    for step in range(20):
        joint = dict.fromkeys(env.agents, step % 5)
        env.step(joint)
        expected, *_, reported = twin.step(joint)
    np.testing.assert_equal((observations, infos), (expected, reported))
    saved = twin.save()
    played(twin, 9)
    env.load(saved)
    np.testing.assert_equal((observations, infos), (expected, reported))


def test_the_state_has_who_is_where_and_what_everybody_has():
    env = world("..0\n1RT\n!.t", {0: {Item.wood: 3}}, max_steps=50)
    env.step({"agent_0": Action.move_down, "agent_1": Action.move_down})
    assert env.state_space.contains(env.state())
    parts = unflatten(env.state_parts, env.state())
    assert parts["clock"][0] == 1
    assert parts["clock"][1] == np.float32(env.crafter_state.daylight)
    assert parts["materials"].T.astype(int).tolist() == [[2, 2, 2], [2, 2, 6], [7, 2, 11]]
    assert parts["entities"].T.astype(int).tolist() == [[0, 0, 13], [0, 19, 0], [0, 0, 0]]
    alive, x, y, *facing_and_sleep = parts["agents"][0, :6].tolist()
    assert (alive, x, y, facing_and_sleep) == (1, 2, 0, [0, 1, 0])
    assert parts["agents"][0, 6:22].tolist() == [9, 9, 9, 9, 0, 3] + [0] * 10
    assert parts["agents"][1, :3].tolist() == [0, 0, 2]
    env.step({"agent_0": Action.do})
    reached = unflatten(env.state_parts, env.state())["agents"][0, 22:]
    assert [Achievement(i) for i in np.flatnonzero(reached)] == [Achievement.collect_wood]
    assert Material(int(env.crafter_state.materials[2, 1])) == Material.grass


@pytest.mark.parametrize(
    "action", [1.9, 1.0, "3", b"3", None, 2**70, -(2**70), float("nan"), np.float32(1), [1], (1, 2, 3, 2**70), {}]
)
def test_an_action_is_never_cut_to_fit(action):
    env = world("0..\n...\n..1")
    with pytest.raises(ActionError, match="agent_1: action"):
        env.step({"agent_0": 1, "agent_1": action})
    assert env.crafter_state.step == 0
    assert env.crafter_state.facing[0].tolist() == [0, 1]


@pytest.mark.parametrize("actions", [None, 3, [1, 1], {0: 1, 1: 1}, {}, {"agent_0": 1, "agent_1": 1, 1: 1}])
def test_what_is_no_dictionary_of_the_agents_actions_is_refused(actions):
    env = world("0..\n...\n..1")
    with pytest.raises(ActionError):
        env.step(actions)
    assert env.crafter_state.step == 0


@pytest.mark.parametrize("action", [np.int8(4), np.uint64(4), np.array(4), Action.move_down, (4, 0, 0, 0)])
def test_every_kind_of_integer_is_an_action(action):
    env = world("0..\n...\n..1")
    env.step({"agent_0": action, "agent_1": 0})
    assert env.outcome("agent_0").result == Result.moved


def test_seeds_are_integers():
    env = CrafterEnv(1)
    for seed in (np.int64(3), np.uint8(3), np.array(3)):
        np.testing.assert_equal(env.reset(seed=seed), CrafterEnv(1).reset(seed=3))
    for seed in (1.9, "3", 3.0, np.float64(3), [3]):
        with pytest.raises(WorldError, match=r"seed = .*: give an integer"):
            env.reset(seed=seed)


@pytest.mark.parametrize(
    "arguments",
    [{"max_steps": 1.5}, {"max_steps": "9"}, {"n": 2.0}, {"obs": "both", "pixels": 64.5}, {"infos": "all"}],
)
def test_arguments_are_not_cut(arguments):
    with pytest.raises(WorldError, match=f"{list(arguments)[-1]} = "):
        CrafterEnv(**{"n": 2, **arguments})


def test_every_environment_can_be_closed():
    env = CrafterEnv(layout=Layout.parse("0..\n...\n..."))
    env.close()
    assert {"name", "render_modes", "render_fps"} <= set(env.metadata)

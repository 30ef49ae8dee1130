"""The PettingZoo environment: its contract, its seeds, its messages, saved moments and local views."""

import warnings

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test

import crafter_env
from crafter_env import (
    Achievement,
    Action,
    ActionError,
    CrafterEnv,
    CrafterState,
    Entity,
    EpisodeError,
    Item,
    Layout,
    Level,
    Material,
    Profile,
    Result,
    WorldError,
    share,
)
from tests.crafter_env.boards import DO, NOOP, act, world


def play(env, seed, steps):
    """Every observation, reward and end of random play, over several episodes; agents act by their own spaces."""
    observations, infos = env.reset(seed=seed)
    for agent in env.possible_agents:
        env.action_space(agent).seed(seed)
    seen = [observations, infos]
    for _ in range(steps):
        if not env.agents:
            seen.append(env.reset())
        seen.append(env.step({agent: env.action_space(agent).sample() for agent in env.agents}))
    return seen


@pytest.mark.parametrize("arguments", [{"n": 1, "profile": "crafter"}, {"n": 3}, {"n": 3, "profile": "coop2"}])
@pytest.mark.parametrize("obs", ["symbolic", "both"])
def test_the_contract_of_pettingzoo(arguments, obs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parallel_api_test(CrafterEnv(**arguments, obs=obs, max_steps=60), num_cycles=150)


def test_the_seed_test_of_pettingzoo():
    parallel_seed_test(lambda: CrafterEnv(3), num_cycles=20)


@pytest.mark.parametrize("arguments", [{"n": 3}, {"n": 2, "profile": "coop2"}])
def test_a_seed_gives_the_same_history_every_time(arguments):
    env = CrafterEnv(**arguments, max_steps=90)
    first, again, other = play(env, 5, 400), play(CrafterEnv(**arguments, max_steps=90), 5, 400), play(env, 6, 5)
    np.testing.assert_equal(again, first)
    with pytest.raises(AssertionError):
        np.testing.assert_equal(other, first[:7])


def test_the_seed_series_goes_on_and_no_seed_begins_anywhere():
    env, twin = CrafterEnv(2), CrafterEnv(2)
    env.reset(seed=3)
    one = env.state()
    env.reset()
    two = env.state()
    twin.reset(seed=3)
    twin.reset()
    assert (two == twin.state()).all()
    assert (one != two).any()
    twin.reset(seed=3)
    assert (one == twin.state()).all()
    free, other = CrafterEnv(2), CrafterEnv(2)
    free.reset()
    other.reset()
    assert (free.state() != other.state()).any()


def test_observations_are_of_their_space_and_stay_as_they_were():
    env = CrafterEnv(3, obs="both")
    observations, _ = env.reset(seed=0)
    kept = {agent: {name: array.copy() for name, array in seen.items()} for agent, seen in observations.items()}
    for _ in range(30):
        later, *_ = env.step({agent: env.action_space(agent).sample() for agent in env.agents})
        for agent, observation in later.items():
            assert env.observation_space(agent).contains(observation)
    np.testing.assert_equal(observations, kept)


def test_what_is_observed_is_the_local_view_of_the_state():
    env = CrafterEnv(4)
    env.reset(seed=2)
    rng = np.random.default_rng(0)
    for _ in range(60):
        env.crafter_state.inventory[:, :4] = 9
        observations, *_ = env.step({agent: int(rng.integers(1, 6)) for agent in env.agents})
        for agent, observation in observations.items():
            state, number = env.crafter_state, int(agent.removeprefix("agent_"))
            view = state.view(number)
            np.testing.assert_array_equal(observation["materials"], view.materials)
            np.testing.assert_array_equal(observation["entities"], view.entities)
            for i in range(9):
                for j in range(7):
                    cell = (view.origin[0] + i, view.origin[1] + j)
                    assert view.materials[i, j] == state.material_at(cell)
                    if view.materials[i, j]:
                        assert view.entities[i, j] == state.entity_at(cell)
                        here = [
                            k for k, at in enumerate(state.positions.tolist()) if tuple(at) == cell and state.alive[k]
                        ]
                        assert set(here) - {number} == {k for k in view.teammates if k in here}
            assert observation["pose"].tolist()[:2] == state.positions[number].tolist()
            assert observation["inventory"].tolist() == state.inventory[number].tolist()


def test_the_view_ends_where_the_map_does():
    env = world("0..\n...\n..T")
    view = env.crafter_state.view(0)
    assert view.origin == (-4, -3)
    assert view.materials[:4].max() == view.materials[:, :3].max() == Material.none
    assert (view.materials[4, 3], view.materials[6, 5], view.entities[4, 3]) == (
        Material.grass, Material.tree, Entity.player,
    )  # fmt: skip
    assert env.crafter_state.view(0, (3, 3)).materials.tolist() == [[0, 0, 0], [0, 2, 2], [0, 2, 2]]


def test_rewards_are_a_tenth_of_the_change_of_health_and_one_for_new_achievements():
    env = world("...\n0T1\n...", {0: {Item.energy: 3}})
    _, rewards, *_, infos = env.step({"agent_0": DO, "agent_1": DO})
    assert rewards == {"agent_0": 1.0, "agent_1": 1.0}
    assert infos["agent_0"]["achievements"][Achievement.collect_wood] == 1
    assert env.step({"agent_0": NOOP, "agent_1": NOOP})[1] == {"agent_0": 0.0, "agent_1": 0.0}


def test_a_saved_moment_goes_on_identically():
    env = CrafterEnv(3, obs="both")
    env.reset(seed=1)
    rng = np.random.default_rng(0)
    actions = rng.integers(17, size=(150, 3))
    for row in actions[:70]:
        env.step_array(row)
    saved, copied = env.save(), env.crafter_state.copy()
    for row in actions[70:]:
        env.step_array(row)
    end, agents = env.crafter_state.copy(), list(env.agents)
    assert (copied.world.materials == saved.state.world.materials).all()
    for target in (env, CrafterEnv(3, obs="both")):
        target.load(saved)
        assert (target.crafter_state.step, target.agents) == (70, list(saved.agents))
        for row in actions[70:]:
            target.step_array(row)
        assert target.agents == agents
        for name in ("materials", "occupants", "agents", "chunks", "counters", "generator"):
            np.testing.assert_array_equal(
                getattr(target.crafter_state.world, name), getattr(end.world, name), err_msg=name
            )
        assert target.crafter_state.creatures() == end.creatures()
    with pytest.raises(WorldError, match="cannot be restored"):
        CrafterEnv(2).load(saved)


def test_arrays_and_dictionaries_step_alike():
    one, two = CrafterEnv(2), CrafterEnv(2)
    one.reset(seed=0)
    two.reset(seed=0)
    two_items = [share(1, Item.food, 2), (Action.move_left, 0, 0, 0)]
    one.step(dict(zip(one.agents, two_items, strict=True)))
    ends = two.step_array(np.array(two_items))
    assert ends.rewards.tolist() == [0.0, 0.0]
    assert (one.crafter_state.world.agents == two.crafter_state.world.agents).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "exactly one of n and layout"),
        ({"n": 0}, "at least 1 agent"),
        ({"n": 2, "profile": "crafter"}, "room for one"),
        ({"n": 2, "profile": "cop"}, "Did you mean 'coop'"),
        ({"n": 2, "level": "esay"}, "Did you mean 'easy'"),
        ({"n": 2, "goal": "collect_irn"}, "Did you mean 'collect_iron'"),
        ({"n": 2, "max_steps": 0}, "give an integer of at least 1"),
        ({"n": 2, "obs": "sound"}, "choose one of 'symbolic'"),
        ({"n": 2, "obs": "pixels", "pixels": 20}, "at least 63"),
        ({"n": 2, "render_mode": "film"}, "choose one of"),
    ],
)
def test_a_wrong_argument_is_named(arguments, message):
    with pytest.raises(WorldError, match=message):
        CrafterEnv(**arguments)


def test_wrong_levels_and_profiles_are_named():
    with pytest.raises(WorldError, match="iron = 0"):
        Level("x", iron=0)
    with pytest.raises(WorldError, match="item_cap = 0"):
        Profile("x", item_cap=0)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ({"agent_0": 0}, "no action for agent_1"),
        ({"agent_0": 0, "agent_1": 99}, "agent_1: action 99 is none of 0 noop"),
        ({"agent_0": 0, "agent_1": -1}, "agent_1: action -1"),
        ({"agent_0": 0, "agent_1": "do"}, "none of 0 noop"),
        ({"agent_0": 0, "agent_1": (17, 0)}, "neither an integer nor four"),
        ({"agent_0": 0, "agent_1": 0, "bob": 0}, "action for bob: the agents are"),
    ],
)
def test_a_wrong_action_is_named_and_nothing_moves(actions, message):
    env = CrafterEnv(2)
    env.reset(seed=0)
    with pytest.raises(ActionError, match=message):
        env.step(actions)
    assert env.crafter_state.step == 0


@pytest.mark.parametrize("actions", [[0], [0, 18], [0.0, 1.0], [[0, 0], [0, 0]]])
def test_wrong_arrays_of_actions_are_refused(actions):
    env = CrafterEnv(2)
    env.reset(seed=0)
    with pytest.raises(ActionError):
        env.step_array(actions)
    assert env.crafter_state.step == 0


def test_a_dead_agents_action_is_not_read_and_its_outcome_says_so():
    env = world("...\n0.1\n!..")
    act(env, Action.move_down, NOOP)
    env.step({"agent_0": Action.move_up, "agent_1": NOOP})
    assert env.outcome("agent_0").result == Result.dead
    assert env.crafter_state.positions[0].tolist() == [0, 2]


def test_steps_outside_an_episode_are_refused():
    env = CrafterEnv(1, max_steps=1)
    with pytest.raises(EpisodeError, match="reset"):
        env.step({"agent_0": 0})
    env.reset(seed=0)
    env.step({"agent_0": 0})
    with pytest.raises(EpisodeError, match="no episode is running"):
        env.step({"agent_0": 0})


def test_a_layout_is_the_world_of_its_episode():
    layout = Layout.parse("0.T\n.C.\n..1")
    env = CrafterEnv(layout=layout, render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == "0.T\n.C.\n..1"
    swapped = Layout.parse("1.T\n...\nt.0")
    env.reset(options={"layout": swapped})
    assert env.render() == "1.T\n...\nt.0"
    for options in ({"layot": layout}, {"layout": "0"}, {"layout": Layout.parse("0..\n...\n...")}):
        with pytest.raises(WorldError):
            env.reset(options=options)


def test_pictures_of_the_map_and_of_what_agents_see():
    env = CrafterEnv(2, obs="pixels", pixels=90, render_mode="rgb_array")
    observations, _ = env.reset(seed=0)
    assert env.render().shape == (64 * 11 + 1, 64 * 11 + 1, 3)
    assert observations["agent_0"]["pixels"].shape == (90, 90, 3)
    silent = CrafterEnv(2)
    silent.reset(seed=0)
    with pytest.raises(WorldError, match="no render mode"):
        silent.render()


def test_the_public_names_are_there():
    assert dir(crafter_env) == sorted(set(crafter_env.__all__))
    assert all(getattr(crafter_env, name) is not None for name in crafter_env.__all__)
    assert CrafterState is crafter_env.CrafterState
    with pytest.raises(AttributeError):
        crafter_env.nothing  # noqa: B018

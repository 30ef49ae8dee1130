"""A batch of worlds is so many single ones."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from crafter_env import Action, ActionError, CrafterEnv, CrafterVecEnv, EpisodeError, Layout, PlacementError, WorldError
from tests.conftest import PATIENCE, environment

NEXT_STEP, SAME_STEP = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP
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
                    np.testing.assert_array_equal(observations[name][world, int(agent[6:])], array, err_msg=name)
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
    with pytest.raises(WorldError, match="3 seeds for 2 worlds"):
        envs.reset(seed=[1, 2, 3])


def test_what_is_given_out_without_copies_is_read_only():
    envs = CrafterVecEnv(2, 2, copy=False)
    observations, infos = envs.reset(seed=0)
    live = [array for name, array in infos.items() if name != "alive"]
    for array in (*observations.values(), *live, *envs.step(np.zeros((2, 2), dtype=int))[1:4]):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def played(envs, steps, seed=0):
    """Everything that a batch gives under random actions, from where it stands."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(steps):
        *step, infos = envs.step(rng.integers(17, size=(envs.num_envs, envs.n)))
        found.append((*step, {**infos, "final_obs": list(infos.get("final_obs", ()))}))
    return copy.deepcopy(found)


def test_a_later_step_does_not_change_what_was_given_out():
    envs = CrafterVecEnv(2, 2)
    given = [*envs.reset(seed=0), *envs.step(np.zeros((2, 2), dtype=int))]
    kept = copy.deepcopy(given)
    played(envs, 30)
    np.testing.assert_equal(given, kept)
    given[3] += 1  # rewards can be shaped in place


@pytest.mark.parametrize("arguments", [{"obs": "both"}, {"copy": False}, {"autoreset_mode": SAME_STEP}])
@pytest.mark.parametrize("twin", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_goes_on_in_step_with_the_original(arguments, twin):
    envs = CrafterVecEnv(2, 2, max_steps=40, **arguments)
    envs.reset(seed=3)
    played(envs, 30)
    other = twin(envs)
    mine, reference = played(envs, 60, seed=1), played(twin(other), 60, seed=1)
    np.testing.assert_equal(reference, mine)
    assert [envs.crafter_state(world).step for world in range(2)] != [
        other.crafter_state(world).step for world in range(2)
    ]
    np.testing.assert_equal(played(other, 60, seed=1)[-1], mine[-1])


FORKED = """
import os
import numpy as np
from crafter_env import CrafterVecEnv

envs = CrafterVecEnv(4, 1, profile="crafter", max_steps=20)
envs.reset(seed=0)
child = os.fork()
for _ in range(90):
    seen = envs.step(np.zeros((4, 1), dtype=int))[0]
print(seen["materials"].tobytes().hex(), flush=True)
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
"""


def test_a_batch_in_a_forked_child_plays_the_same_worlds():
    command = [sys.executable, "-c", FORKED]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=PATIENCE, check=True)
    first, second = done.stdout.split()
    assert first == second


def test_a_batch_that_is_closed_or_seeded_again_plays_the_same_worlds():
    envs, other = (CrafterVecEnv(3, 1, profile="crafter", max_steps=9) for _ in range(2))
    other.reset(seed=50)
    other.reset(seed=3)
    envs.reset(seed=3)
    other.close()
    np.testing.assert_equal(played(other, 60), played(envs, 60))


def test_a_world_drawn_ahead_that_has_no_room_is_refused_when_it_begins(monkeypatch):
    envs = CrafterVecEnv(1, 1, profile="crafter", max_steps=3)

    def begin(world, seed, layout):
        raise PlacementError("no room")

    monkeypatch.setattr(envs._ahead, "begin", begin)
    envs.reset(seed=0)
    envs._drawings[0].exception()
    played(envs, 3)
    with pytest.raises(PlacementError, match="no room"):
        played(envs, 1)


def test_both_modes_of_autoreset_play_the_same_episodes():
    layout = Layout.parse("0!.\n...\n..1")
    late, soon = (CrafterVecEnv(2, layout=layout, max_steps=7, autoreset_mode=mode) for mode in (NEXT_STEP, SAME_STEP))
    assert soon.metadata["autoreset_mode"] is CrafterVecEnv(1, 1, autoreset_mode="SameStep").autoreset_mode is SAME_STEP
    late.reset(seed=0)
    soon.reset(seed=0)
    for step in range(1, 30):
        actions = np.full((2, 2), step % 17)
        started, *expected = late.step(actions)
        shown, *found = soon.step(actions)
        np.testing.assert_equal(found[:3], expected[:3])
        if not expected[3]["alive"].any():
            assert found[3]["_final_obs"].tolist() == found[3]["_final_info"].tolist() == [True, True]
            for world, final in enumerate(found[3]["final_obs"]):
                np.testing.assert_equal(final, {name: array[world] for name, array in started.items()})
            np.testing.assert_equal(found[3]["final_info"], expected[3])
            started, *_, infos = late.step(actions)
            np.testing.assert_equal({name: found[3][name] for name in infos}, infos)
        else:
            assert "final_obs" not in found[3]
        np.testing.assert_equal(shown, started)


def test_one_world_can_end_and_begin_while_the_others_go_on():
    layout = Layout.parse("0!.\n...\n...")
    envs = CrafterVecEnv(2, layout=layout, autoreset_mode=SAME_STEP)
    envs.reset(seed=0)
    _, _, dead, _, infos = envs.step([[Action.move_right], [Action.move_down]])
    assert dead.tolist() == [[True], [False]]
    assert (infos["step"].tolist(), infos["_final_obs"].tolist()) == ([0, 1], [True, False])
    assert infos["final_obs"][0]["pose"][0, :2].tolist() == [1, 0]
    assert infos["final_obs"][1] is None
    assert infos["alive"].all()


def test_what_a_batch_gives_is_of_its_spaces():
    envs = CrafterVecEnv(2, 3, obs="both", max_steps=20)
    envs.action_space.seed(0)
    observations, infos = envs.reset(seed=0)
    for _ in range(40):
        assert envs.observation_space.contains(observations)
        assert envs.state_space.contains(envs.state())
        assert infos["action_mask"].shape == (2, 3, 18 + 3 + 16 + 9)
        observations, *_, infos = envs.step(envs.action_space.sample())
    envs.close()


def test_states_and_masks_of_a_batch_are_those_of_its_worlds():
    envs, singles = CrafterVecEnv(2, 3), [CrafterEnv(3), CrafterEnv(3)]
    _, infos = envs.reset(seed=4)
    for world, single in enumerate(singles):
        _, own = single.reset(seed=4 + world)
        np.testing.assert_array_equal(envs.state()[world], single.state())
        masks = np.array([own[agent]["action_mask"] for agent in single.agents])
        np.testing.assert_array_equal(infos["action_mask"][world], masks)
        np.testing.assert_array_equal(envs.action_masks()[world], masks)


def test_only_agents_that_go_on_are_alive():
    envs = CrafterVecEnv(1, layout=Layout.parse("0!.\n1..\n..."), max_steps=2)
    _, infos = envs.reset(seed=0)
    assert infos["alive"].tolist() == [[True, True]]
    assert envs.step([[Action.move_right, Action.noop]])[4]["alive"].tolist() == [[False, True]]
    assert envs.step([[Action.noop, Action.noop]])[4]["alive"].tolist() == [[False, False]]


@pytest.mark.parametrize("seed", [1.9, "3", [1, 2.5], [1]])
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(WorldError, match="seed"):
        CrafterVecEnv(2, 1).reset(seed=seed)


def test_wrong_calls_are_named():
    for arguments in ({"num_envs": 0}, {"num_envs": 1.5}, {"infos": "symbolic"}, {"autoreset_mode": "sometimes"}):
        with pytest.raises(WorldError, match=f"{next(iter(arguments))} = "):
            CrafterVecEnv(**{"num_envs": 2, "n": 2, **arguments})
    envs = CrafterVecEnv(2, 2)
    with pytest.raises(EpisodeError, match="reset"):
        envs.step(np.zeros((2, 2), dtype=int))
    envs.reset(seed=0)
    with pytest.raises(ActionError, match="world 1, agent_0: action 50"):
        envs.step(np.array([[0, 0], [50, 0]]))
    for actions in (np.zeros((2, 3), dtype=int), np.zeros((2, 2)), [[0, 0], [0]], [[0, 2**70], [0, 0]], None):
        with pytest.raises(ActionError, match=r"give integers of shape \(2, 2\)"):
            envs.step(actions)
    with pytest.raises(WorldError, match="takes no options"):
        envs.reset(options={"layout": None})
    with pytest.raises(WorldError, match="no render mode"):
        envs.render()


def test_every_world_can_be_drawn():
    envs = CrafterVecEnv(2, layout=Layout.parse("0.T\n...\n..1"), render_mode="ansi")
    envs.reset(seed=0)
    assert envs.render() == ("0.T\n...\n..1",) * 2

import warnings

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from cube_env import (
    Action,
    ActionError,
    CubeEnv,
    CubeVecEnv,
    EpisodeError,
    Layout,
    PlacementError,
    Scenario,
    WorldError,
)
from cube_env.arrays import COUNT_ATTEMPTS
from tests.cube_env.boards import board, herd_actions

SMALL = Scenario(side=9, agents=4, blocks={1: 4, 2: 1})
FIXED = Layout.parse(board("0.A..|\n1.BB.|\n..BB.|"))


def assert_same_world(envs: CubeVecEnv, world: int, single: CubeEnv) -> None:
    batch, alone = envs.cube_state(world).world, single.cube_state.world
    for name in ("agents", "blocks", "grid", "channels", "counters"):
        np.testing.assert_array_equal(getattr(batch, name), getattr(alone, name), err_msg=f"{name} of world {world}")
    attempts = alone.counters[COUNT_ATTEMPTS]
    np.testing.assert_array_equal(batch.attempts[:attempts], alone.attempts[:attempts])


def play_both(seed: int, steps: int, num_envs: int, **arguments) -> tuple[int, int]:
    """Step a batch and its single environments side by side; give the numbers of deliveries and of autoresets."""
    envs = CubeVecEnv(num_envs, **arguments)
    singles = [CubeEnv(**arguments) for _ in range(num_envs)]
    envs.reset(seed=seed)
    for world, single in enumerate(singles):
        single.reset(seed=seed + world)
        assert_same_world(envs, world, single)
    rng = np.random.default_rng(seed)
    ended = [False] * num_envs
    delivered = autoresets = 0
    for _ in range(steps):
        actions = np.array([herd_actions(rng, envs.n) for _ in range(num_envs)])
        actions[rng.random(actions.shape) < 0.3] = Action.RIGHT
        observations, rewards, terminations, truncations, infos = envs.step(actions)
        for world, single in enumerate(singles):
            if ended[world]:
                single.reset()
                found = (rewards[world], terminations[world], truncations[world])
                assert found == (0.0, False, False)
                ended[world] = False
                autoresets += 1
            else:
                report = single.step_array(actions[world])
                assert rewards[world] == report.reward
                assert (terminations[world], truncations[world]) == (report.terminated, report.truncated)
                assert infos["delivered_weight"][world] == report.delivered_weight
                ended[world] = report.terminated or report.truncated
                delivered += len(report.delivered)
            state = single.cube_state
            assert (infos["step"][world], infos["blocks_left"][world]) == (state.step, state.live)
            np.testing.assert_array_equal(observations[world], state.channels)
            assert_same_world(envs, world, single)
    return delivered, autoresets


def test_a_batch_is_its_single_environments_to_the_bit_over_thousands_of_steps():
    delivered, autoresets = play_both(7, 1200, 5, scenario=SMALL, max_steps=90)
    assert delivered > 30, "the walks of this test reach deliveries"
    assert autoresets > 50


@pytest.mark.parametrize("n", [1, 2, 8, 20])
def test_the_curriculum_is_the_same_in_a_batch(n):
    _, autoresets = play_both(n, 120, 3, n=n, max_steps=25, step_cost=0.03, deliver_reward=0.7)
    assert autoresets == 3 * 4


def test_a_fixed_layout_comes_back_at_every_autoreset():
    delivered, autoresets = play_both(3, 600, 3, layout=FIXED, max_steps=40)
    assert delivered > 5
    assert autoresets > 40


def test_the_step_after_an_end_ignores_the_actions_and_begins():
    envs = CubeVecEnv(2, layout=Layout.parse(board("0A.|")), max_steps=2)
    first, _ = envs.reset(seed=0)
    first = first.copy()
    right = np.full((2, 1), 4)
    _, rewards, terminations, truncations, _ = envs.step(right)
    assert rewards.tolist() == [-0.01, -0.01]
    observations, _, terminations, truncations, infos = envs.step([[4], [0]])
    assert terminations.tolist() == [True, False]
    assert truncations.tolist() == [False, True], "a last delivery in the last step is no truncation"
    assert infos["blocks_left"].tolist() == [0, 1]
    assert not (observations == first).all(), "the step that ends an episode shows its last state"
    observations, rewards, terminations, truncations, infos = envs.step([[99], [-1]])
    np.testing.assert_array_equal(observations, first)
    assert rewards.tolist() == [0.0, 0.0]
    assert not terminations.any()
    assert not truncations.any()
    assert infos["step"].tolist() == [0, 0]


def test_without_observation_there_is_no_array_and_the_worlds_are_the_same():
    seen, blind = CubeVecEnv(3, n=4), CubeVecEnv(3, n=4, observe=False)
    seen.reset(seed=1)
    observations, _ = blind.reset(seed=1)
    assert observations.shape == (3, 0, 0, 5)
    assert observations in blind.observation_space
    rng = np.random.default_rng(0)
    for _ in range(50):
        actions = rng.integers(0, 5, (3, 4))
        assert blind.step(actions)[0].size == 0
        seen.step(actions)
    for world in range(3):
        assert blind.snapshot(world) == seen.snapshot(world)


def test_spaces_hold_what_is_given():
    envs = CubeVecEnv(3, n=2)
    observations, _ = envs.reset(seed=0)
    assert observations in envs.observation_space
    assert observations[0] in envs.single_observation_space
    assert envs.action_space.shape == (3, 2)
    actions = envs.action_space.sample()
    assert actions[0] in envs.single_action_space
    assert envs.step(actions)[0] in envs.observation_space
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP


def test_without_copies_what_a_step_gives_is_allocated_once_and_read_only():
    envs = CubeVecEnv(2, n=2, copy=False)
    envs.reset(seed=0)
    first = envs.step(np.zeros((2, 2), dtype=np.int64))
    second = envs.step(np.full((2, 2), 4))
    for before, after in zip(first[:4], second[:4], strict=True):
        assert np.shares_memory(before, after)
        assert not after.flags.writeable
    assert np.shares_memory(first[4]["step"], second[4]["step"])


def test_what_a_step_gives_is_the_callers_own():
    envs = CubeVecEnv(2, n=2)
    first, _ = envs.reset(seed=0)
    kept = first.copy()
    _, rewards, *_ = envs.step(np.full((2, 2), 4))
    np.testing.assert_array_equal(first, kept)
    rewards[...] = 5
    first[...] = 5
    observations, rewards, *_ = envs.step(np.full((2, 2), 4))
    assert rewards.max() < 1
    assert observations.max() < 5


def test_the_stream_of_layouts_goes_on_without_a_seed_and_one_seed_a_world_is_taken():
    envs = CubeVecEnv(2, n=4)
    single = CubeEnv(n=4)
    envs.reset(seed=[9, 5])
    envs.reset()
    for world, seed in enumerate((9, 5)):
        single.reset(seed=seed)
        single.reset()
        assert envs.snapshot(world) == single.snapshot()
    envs.reset(seed=[None, 5])
    single.reset(seed=5)
    assert envs.snapshot(1) == single.snapshot()


def test_any_integers_are_actions():
    envs = CubeVecEnv(2, n=2)
    for dtype in (np.int8, np.uint16, np.int32, np.int64):
        envs.reset(seed=0)
        envs.step(np.full((2, 2), 4, dtype=dtype))
        assert envs.snapshot(0).agents[0][1] == 1
    envs.reset(seed=0)
    envs.step(np.full((2, 4), 4)[:, ::2])
    assert envs.snapshot(1).agents[1][1] == 1


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([[0, 0], [0, 5]], "world 1, agent_1: action 5 is none of 0 STAY"),
        ([[0, -1], [0, 0]], "world 0, agent_1: action -1"),
        ([[0, 0]], r"shape \(1, 2\).*shape \(2, 2\)"),
        ([[0.0, 0.0], [0.0, 0.0]], "float64"),
    ],
)
def test_a_wrong_action_is_refused_and_nothing_moves(actions, message):
    envs = CubeVecEnv(2, n=2)
    envs.reset(seed=0)
    envs.step(np.full((2, 2), 4))
    before = [envs.snapshot(world) for world in range(2)]
    with pytest.raises(ActionError, match=message):
        envs.step(actions)
    assert [envs.snapshot(world) for world in range(2)] == before


def test_mistakes_are_named():
    with pytest.raises(WorldError, match="num_envs = 0"):
        CubeVecEnv(0, n=2)
    with pytest.raises(WorldError, match="exactly one of n, scenario and layout"):
        CubeVecEnv(2)
    with pytest.raises(WorldError, match="max_steps = 0"):
        CubeVecEnv(2, n=2, max_steps=0)
    envs = CubeVecEnv(2, n=2)
    with pytest.raises(EpisodeError, match="reset"):
        envs.step([[0, 0], [0, 0]])
    with pytest.raises(WorldError, match="1 seeds for 2 worlds"):
        envs.reset(seed=[1])
    with pytest.raises(WorldError, match="'layout'"):
        envs.reset(options={"layout": FIXED})
    envs.reset(seed=0)
    with pytest.raises(WorldError, match="render_mode"):
        envs.render()
    with pytest.raises(PlacementError, match="no room"):
        CubeVecEnv(1, scenario=Scenario(side=8, agents=1, blocks={3: 9})).reset(seed=0)


def test_every_world_is_rendered():
    envs = CubeVecEnv(2, n=2, render_mode="ansi")
    envs.reset(seed=0)
    single = CubeEnv(n=2, render_mode="ansi")
    single.reset(seed=1)
    assert envs.render()[1] == single.render()
    pictures = CubeVecEnv(2, n=2, render_mode="rgb_array")
    pictures.reset(seed=0)
    assert [picture.shape for picture in pictures.render()] == [(721, 721, 3)] * 2


def test_gymnasiums_own_wrapper_counts_the_episodes():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        envs = RecordEpisodeStatistics(CubeVecEnv(3, n=2, max_steps=5))
    envs.reset(seed=0)
    for _ in range(5):
        *_, infos = envs.step(np.zeros((3, 2), dtype=np.int64))
    np.testing.assert_allclose(infos["episode"]["r"], -0.05)
    assert infos["episode"]["l"].tolist() == [5, 5, 5]

"""A masked action is the same as STAY whatever the other agents do."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube_env import Action, CubeEnv, CubeVecEnv, Layout
from tests.cube_env.boards import board, dense_layout, play


def allowed(env, agent="agent_0"):
    return "".join(action.name[0] for action in Action if env.action_masks()[agent][action])


@pytest.mark.parametrize(
    ("drawn", "found"),
    [
        ("0...|", "SDR"),
        ("....|\n.0..|", "SUDLR"),
        ("....|\n....|\n....|\n....|\n....0", "SUL"),
        ("0A..|", "SDR"),
        ("0AA.|\n.AA.|", "SD"),
        ("0AA.|\n1AA.|", "SDR"),
        ("01..|", "SDR"),
    ],
)
def test_the_mask_of_a_drawn_board(drawn, found):
    assert allowed(play(drawn)) == found


@given(seed=st.integers(0, 2**32 - 1))
def test_a_masked_action_is_staying_for_every_joint_action_of_the_others(seed):
    rng = np.random.default_rng(seed)
    layout = dense_layout(rng, int(rng.integers(5, 8)), agents=int(rng.integers(2, 4)), tries=12, heaviest=4)
    env = CubeEnv(layout=layout)
    env.reset()
    saved, masks = env.save(), env.action_masks()
    for agent in range(len(layout.agents)):
        masked = np.flatnonzero(masks[f"agent_{agent}"] == 0)
        if not masked.size:
            continue
        for others in product(range(5), repeat=len(layout.agents) - 1):
            pictures = []
            for own in (0, *masked):
                env.load(saved)
                env.step_array([*others[:agent], own, *others[agent:]])
                pictures.append(env.snapshot())
            assert all(picture == pictures[0] for picture in pictures)


def test_the_infos_and_a_batch_have_the_masks_of_the_single_environments():
    envs = CubeVecEnv(3, n=4)
    _, infos = envs.reset(seed=2)
    rng = np.random.default_rng(0)
    singles = [CubeEnv(n=4) for _ in range(3)]
    found = [single.reset(seed=2 + world)[1] for world, single in enumerate(singles)]
    for _ in range(30):
        expected = np.array([[info["action_mask"] for info in by_agent.values()] for by_agent in found])
        np.testing.assert_array_equal(infos["action_mask"], expected)
        np.testing.assert_array_equal(envs.action_masks(), expected)
        assert infos["alive"].shape == (3, 4)
        assert infos["alive"].all()
        actions = rng.integers(0, 5, (3, 4))
        *_, infos = envs.step(actions)
        found = [
            single.step(dict(zip(single.agents, joint, strict=True)))[-1]
            for single, joint in zip(singles, actions, strict=True)
        ]
    assert (expected == 0).any()


def test_a_space_samples_by_the_mask():
    env = CubeEnv(layout=Layout.parse(board("0...|")))
    env.reset()
    space, mask = env.action_space("agent_0"), env.action_masks()["agent_0"]
    assert {int(space.sample(mask)) for _ in range(100)} == {0, 2, 4}

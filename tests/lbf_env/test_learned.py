"""Policies that were learned on the package's environment play level-based foraging in the loop."""

from __future__ import annotations

import numpy as np
import pytest

from lbf_env import GoTo, Load, Wait
from tests.lbf_env.test_foraging_world import placed, world
from tests.methods.test_policy import solved

TEAM = ("env=foraging", "n=2", "env.foods=2", "env.coop=true", "topology=individual")


def test_arrays_are_what_the_package_gives_and_the_mask_what_it_calls_valid() -> None:
    found = placed({(2, 2): 3}, (0, 0, 1), (2, 3, 2))
    arrays = [found.arrays(agent) for agent in range(2)]
    for own, package in zip(arrays, found.env.test_make_gym_obs(), strict=True):
        assert np.array_equal(own.observation, package)
    assert [own.mask.tolist() for own in arrays] == [[1, 0, 1, 0, 1, 0], [1, 1, 1, 0, 1, 1]]
    assert found.array_sizes(0) == (arrays[0].observation.size, 6)


def test_an_action_is_a_step_to_the_next_cell_or_a_try_to_load() -> None:
    found = placed({(2, 2): 3}, (0, 0, 1), (2, 3, 2))
    assert [found.action_of(1, index) for index in (0, 1, 2, 4, 5)] == [
        Wait(),
        GoTo(row=1, col=3, patience=0),
        GoTo(row=3, col=3, patience=0),
        GoTo(row=2, col=4, patience=0),
        Load(row=2, col=2, patience=1),
    ]
    controller = found.start_action(1, found.action_of(1, 5))
    assert controller.status() is None
    found.step([0, controller.act()])
    assert controller.status() is not None, "who is too weak chooses again after a step"


@pytest.mark.parametrize("seed", range(3))
def test_an_action_does_what_the_package_does_where_nobody_is_in_the_way(seed: int) -> None:
    found, rng = world(n=1, max_steps=30), np.random.default_rng(seed)
    found.reset(seed)
    for _ in range(20):
        index = int(rng.choice(np.flatnonzero(found.arrays(0).mask)))
        if index != 5:  # one agent alone may be too weak, and then the world spares it the vain try
            assert found.start_action(0, found.action_of(0, index)).act() == index
        if found.step([index]).end:
            break


def test_the_policy_that_comes_with_quorum_loads_the_foods_that_random_minds_do_not() -> None:
    words = [*TEAM, "max_steps=50"]
    assert solved(range(1000, 1008), "agents=policy", "agents.path=foraging_n2", *words) >= 6
    assert solved(range(1000, 1008), "agents=random", *words) <= 2

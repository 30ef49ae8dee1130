"""The world is the environment of `lbforaging`, step by step: held against a separate loop of the package alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lbforaging.foraging import ForagingEnv

from maeil.outcomes import Outcome
from tests.lbf_env.test_foraging_world import world

SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"n": 4, "side": 6, "foods": 2, "coop": True, "sight": 2, "penalty": 0.1},
    {"n": 8, "side": 10, "foods": 6, "max_level": 3, "max_food_level": 4, "max_steps": 80},
    {"n": 2, "side": 5, "foods": 1, "sight": 1},
)


def package(n=3, side=8, foods=3, max_level=2, max_food_level=None, coop=False, sight=None, penalty=0.0, max_steps=50):
    return ForagingEnv(
        n, 1, max_level, 1, max_food_level, (side, side), foods, sight or side, max_steps, coop, penalty=penalty
    )


def hold(seed: int, settings: dict[str, Any]) -> int:
    """Play a seed in both by the same draws, mostly to load where that can be; return the number of steps."""
    ours, package_env, draw = world(**settings), package(**settings), np.random.default_rng(seed)
    ours.reset(seed)
    arrays, _ = package_env.reset(seed=seed)
    total, steps, done = 0.0, 0, False
    while True:
        field = ours.global_observation()
        assert list(field.cells.values()) == [tuple(player.position) for player in package_env.players]
        assert list(field.levels.values()) == [player.level for player in package_env.players]
        grid = np.zeros_like(package_env.field)
        for cell, level in field.food_levels.items():
            grid[cell] = level
        assert np.array_equal(grid, package_env.field)
        for agent, array in enumerate(arrays):
            seen, rows = ours.observe(agent), array.reshape(-1, 3)
            split = package_env.max_num_food
            assert len(seen.foods) == (rows[:split, 2] > 0).sum()
            assert sorted(level for level in seen.levels.values()) == sorted(rows[split:][rows[split:, 2] > 0, 2])
        if done:
            return steps
        joint = [
            5 if near > 0 and draw.random() < 0.7 else int(draw.integers(6))
            for near in (package_env.adjacent_food(*player.position) for player in package_env.players)
        ]
        transition = ours.step(joint)
        arrays, rewards, done, _, _ = package_env.step(joint)
        assert transition.rewards == tuple(rewards)
        assert transition.reward == pytest.approx(np.mean(rewards))
        total += sum(rewards)
        assert ours.progress().score == pytest.approx(total)
        empty = not package_env.field.any()
        assert (transition.end is not None) == done
        assert done == empty or transition.end is Outcome.TRUNCATED
        assert (transition.end is Outcome.SUCCESS) == empty
        steps += 1


@pytest.mark.parametrize("settings", SETTINGS)
def test_some_seeds_are_played_as_the_package_plays_them(settings: dict[str, Any]) -> None:
    for seed in range(3):
        assert hold(seed, settings) > 0


@pytest.mark.conformance
@pytest.mark.parametrize("settings", SETTINGS)
def test_two_hundred_seeds_are_played_as_the_package_plays_them(settings: dict[str, Any]) -> None:
    for seed in range(200):
        hold(seed, settings)

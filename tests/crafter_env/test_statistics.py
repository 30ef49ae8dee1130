"""Worlds and lives have the statistics published with the rules; 400 worlds and 2,000 lives of the reference."""

import math

import numpy as np
import pytest

from crafter_env import Achievement, CrafterEnv, CrafterVecEnv, Entity, Item, Material

# Mean and standard deviation of cells in a world of the reference, env seeds 0 to 399.
CELLS = {
    "water": (869.2, 259.2), "grass": (1765.2, 260.7), "stone": (587.0, 151.4), "path": (349.2, 120.2),
    "sand": (230.1, 56.7), "tree": (190.9, 36.8), "lava": (31.7, 19.9), "coal": (51.4, 16.7), "iron": (18.0, 8.4),
    "diamond": (3.23, 2.10),
}  # fmt: skip
OBJECTS = {"cow": (26.2, 6.4), "zombie": (14.8, 4.3), "skeleton": (9.6, 3.9)}
WORLDS = 400


@pytest.fixture(scope="module")
def worlds():
    env = CrafterEnv(1, profile="crafter")
    maps = []
    for seed in range(1000, 1000 + WORLDS):
        env.reset(seed=seed)
        maps.append(env.state())
    return np.array(maps)


@pytest.mark.parametrize("name", [*CELLS, *OBJECTS])
def test_worlds_hold_as_much_as_those_of_the_reference(worlds, name):
    kind = Material[name] if name in CELLS else Entity[name]
    found = (worlds == kind).sum(axis=(1, 2))
    mean, deviation = (CELLS | OBJECTS)[name]
    if name in ("grass", "path", "sand"):  # the semantic map hides what lies under objects
        mean -= {"grass": 37, "path": 13, "sand": 1.5}[name]
    assert abs(found.mean() - mean) <= 3 * math.sqrt(2 * deviation**2 / WORLDS)
    assert 0.8 < found.std() / deviation < 1.25


def test_seven_worlds_in_a_hundred_have_no_diamond(worlds):
    without = ((worlds == Material.diamond).sum(axis=(1, 2)) == 0).mean()
    assert abs(without - 0.07) <= 0.054


def test_monsters_come_and_go_with_the_day():
    """Means over 150 worlds around a noop player whose needs are filled up, at some steps."""
    expected = {50: (24.8, 2.3, 12.0), 150: (23.4, 12.0, 13.7), 210: (20.8, 28.3, 14.4), 300: (19.2, 17.4, 14.7)}
    deviation = {50: (6.4, 1.9, 3.9), 150: (5.6, 3.6, 3.9), 210: (4.7, 7.3, 3.9), 300: (3.9, 4.5, 3.9)}
    envs = CrafterVecEnv(150, 1, profile="crafter", obs=None)
    envs.reset(seed=5000)
    needs = [envs.crafter_state(world).inventory[:, : Item.sapling] for world in range(150)]
    for step in range(1, 301):
        for need in needs:
            need[:] = 9
        envs.step(np.zeros((150, 1), dtype=np.int64))
        if step in expected:
            maps = np.array([envs.crafter_state(world).semantic() for world in range(150)])
            for kind, mean, sd in zip(("cow", "zombie", "skeleton"), expected[step], deviation[step], strict=True):
                found = (maps == Entity[kind]).sum(axis=(1, 2)).mean()
                assert abs(found - mean) <= 4 * math.sqrt(2 * sd**2 / 150), (step, kind, found)


def test_random_lives_are_as_long_and_as_rich_as_those_of_the_reference():
    """600 lives against 2,000 of the reference: length 168.1 +- 46.5, and the achievements that are reached at all."""
    lives = 600
    envs = CrafterVecEnv(lives, 1, profile="crafter", obs=None)
    envs.reset(seed=9000)
    rng = np.random.default_rng(0)
    lengths, achieved = np.zeros(lives), np.zeros((lives, len(Achievement)))
    while not lengths.all():
        *_, terminations, truncations, infos = envs.step(rng.integers(17, size=(lives, 1)))
        over = (terminations | truncations)[:, 0] & (lengths == 0)
        lengths[over] = infos["step"][over]
        achieved[over] = infos["achievements"][over, 0] > 0
    assert abs(lengths.mean() - 168.1) <= 4 * 46.5 * math.sqrt(1 / lives + 1 / 2000)
    rates = {
        "wake_up": 0.934, "collect_sapling": 0.515, "place_plant": 0.463, "collect_wood": 0.237, "collect_drink": 0.105,
        "place_table": 0.041, "eat_cow": 0.0025,
    }  # fmt: skip
    for name, rate in rates.items():
        found = achieved[:, Achievement[name]].mean()
        assert abs(found - rate) <= 4 * math.sqrt(rate * (1 - rate) * (1 / lives + 1 / 2000)), (name, found)

"""Worlds, their creatures and random lives have the statistics of the reference, within three standard errors.

The figures are those of 400 worlds, 150 watched worlds and 2,000 random lives of PyPI `crafter`; here are other seeds.
"""

import math
from typing import NamedTuple

import numpy as np
import pytest

from crafter_env import Achievement, CrafterEnv, CrafterVecEnv, Entity, Item, Material
from crafter_env.kernels import arrays
from tests.crafter_env.reference import ReferenceEnv

# Mean and standard deviation of cells in a world, env seeds 0 to 399; then of objects.
CELLS = {
    "water": (869.2, 259.2), "grass": (1765.2, 260.7), "stone": (587.0, 151.4), "path": (349.2, 120.2),
    "sand": (230.1, 56.7), "tree": (190.9, 36.8), "lava": (31.7, 19.9), "coal": (51.4, 16.7), "iron": (18.0, 8.4),
    "diamond": (3.23, 2.10),
}  # fmt: skip
OBJECTS = {"cow": (26.2, 6.4), "zombie": (14.8, 4.3), "skeleton": (9.6, 3.9)}
WORLDS = 400

# At a step: light; mean and standard deviation of cows, zombies and skeletons in a world; mean of arrows.
MOBS = {
    0: (0.797, (25.8, 6.9), (14.1, 4.2), (10.3, 3.8), 0),
    50: (0.999, (24.8, 6.4), (2.3, 1.9), (12.0, 3.9), 0.15),
    100: (0.933, (24.3, 6.0), (0.3, 0.7), (13.1, 3.9), 0.32),
    150: (0.470, (23.4, 5.6), (12.0, 3.6), (13.7, 3.9), 0.41),
    210: (0, (20.8, 4.7), (28.3, 7.3), (14.4, 3.9), 0.48),
    240: (0.140, (19.8, 4.4), (33.0, 8.0), (14.5, 3.9), 0.69),
    300: (0.797, (19.2, 3.9), (17.4, 4.5), (14.7, 3.9), 0.81),
    400: (0.933, (19.4, 3.8), (0.4, 0.8), (15.0, 3.9), 1.2),
    510: (0, (18.4, 3.5), (28.4, 7.5), (15.2, 4.0), 1.4),
    900: (0.797, (17.9, 3.2), (17.8, 4.7), (15.6, 4.1), 2.0),
}
DAMAGE = (2.0, 24.4, 66.4, 33.4, 33.7, 72.2, 37.0, 36.5, 72.1)
"""Health that the player of these worlds loses in each hundred steps."""
WATCHED = 150

LIVES, SERIES = 2000, 20
RATES = {
    "wake_up": 0.934, "collect_sapling": 0.515, "place_plant": 0.463, "collect_wood": 0.237, "collect_drink": 0.105,
    "place_table": 0.041, "eat_cow": 0.0025, "make_wood_pickaxe": 0.0025, "make_wood_sword": 0.001,
    "defeat_zombie": 0.0005,
}  # fmt: skip
"""Lives in which a random player reaches an achievement; the others next to never."""
DEATHS = {"mobs": 0.87, "needs": 0.13, "lava": 0.002}


def semantic_map(state):
    """Crafter's own, uint8 (W, H): materials, and over them `Entity` values."""
    canvas = state.world.materials.copy()
    rows = state.world.objects[: int(state.world.counters[arrays.SLOTS])]
    there = rows[rows[:, arrays.KIND] > 0]
    canvas[there[:, arrays.X], there[:, arrays.Y]] = there[:, arrays.KIND]
    return canvas


def tolerance(deviation, number):
    """Three standard errors of the difference of two means of as many."""
    return 3 * deviation * math.sqrt(2 / number)


def rate_tolerance(rate, number):
    return tolerance(math.sqrt(rate * (1 - rate)), number)


@pytest.fixture(scope="module")
def worlds():
    """How many cells of each material and objects of each kind there are in generated worlds: (400,) by name."""
    env = CrafterEnv(1, profile="crafter")
    counts = {name: [] for name in CELLS | OBJECTS}
    for seed in range(1000, 1000 + WORLDS):
        env.reset(seed=seed)
        semantic = semantic_map(env.crafter_state)
        for name in CELLS:
            counts[name].append((env.crafter_state.materials == Material[name]).sum())
        for name in OBJECTS:
            counts[name].append((semantic == Entity[name]).sum())
    return {name: np.array(found) for name, found in counts.items()}


@pytest.mark.parametrize("name", [*CELLS, *OBJECTS])
def test_worlds_hold_as_much_as_those_of_the_reference(worlds, name):
    mean, deviation = (CELLS | OBJECTS)[name]
    assert abs(worlds[name].mean() - mean) <= tolerance(deviation, WORLDS)
    assert 0.8 < worlds[name].std() / deviation < 1.25


def test_seven_worlds_in_a_hundred_have_no_diamond(worlds):
    assert abs((worlds["diamond"] == 0).mean() - 0.07) <= 0.054


@pytest.fixture(scope="module")
def reference_worlds():
    """The same of worlds that PyPI `crafter` has generated."""
    counts = {name: [] for name in CELLS}
    env = ReferenceEnv(0)
    for seed in range(WORLDS):
        env.begin(seed)
        for name in CELLS:
            counts[name].append((env.world._mat_map == Material[name]).sum())
    return {name: np.array(found) for name, found in counts.items()}


@pytest.mark.conformance
def test_cells_are_distributed_as_in_the_worlds_of_the_reference(worlds, reference_worlds):
    """One test for all materials, as the worlds of the reference take minutes of every process that needs them."""
    from scipy.stats import ks_2samp  # takes a second that the other tests need not wait for

    for name, (mean, deviation) in CELLS.items():
        assert ks_2samp(worlds[name], reference_worlds[name], method="asymp").pvalue > 0.001, name
        # The table is of these very worlds.
        assert reference_worlds[name].mean() == pytest.approx(mean, abs=0.05), name
        assert reference_worlds[name].std() == pytest.approx(deviation, rel=0.01), name


class Watched(NamedTuple):
    """Worlds around a player that does nothing and whose needs are filled up before each step."""

    light: dict[int, float]
    mobs: dict[int, dict[str, np.ndarray]]
    """At a step, how many there are in each world, (150,) by name."""
    damage: np.ndarray
    """In each world and hundred steps, (150, 9)."""


@pytest.fixture(scope="module")
def watched():
    envs = CrafterVecEnv(WATCHED, 1, profile="crafter", obs=None)
    envs.reset(seed=5000)
    states = [envs.crafter_state(world) for world in range(WATCHED)]
    light, mobs, damage = {}, {}, np.zeros((WATCHED, len(DAMAGE)))
    noops = np.zeros((WATCHED, 1), dtype=np.int64)
    for step in range(max(MOBS) + 1):
        if step:
            for state in states:
                state.inventory[0, : Item.sapling] = 9
            envs.step(noops)
            damage[:, (step - 1) // 100] += [9 - state.inventory[0, Item.health] for state in states]
        if step in MOBS:
            maps = np.array([semantic_map(state) for state in states])
            light[step] = states[0].daylight
            mobs[step] = {
                kind: (maps == Entity[kind]).sum(axis=(1, 2)) for kind in ("cow", "zombie", "skeleton", "arrow")
            }
    return Watched(light, mobs, damage)


@pytest.mark.parametrize("step", MOBS)
def test_monsters_come_and_go_with_the_day(watched, step):
    light, *expected, arrows = MOBS[step]
    assert watched.light[step] == pytest.approx(light, abs=5e-4)
    found = watched.mobs[step]
    for kind, (mean, deviation) in zip(("cow", "zombie", "skeleton"), expected, strict=True):
        assert abs(found[kind].mean() - mean) <= tolerance(deviation, WATCHED), kind
    # The table gives no deviation of arrows, so it is that of these worlds; and their mean in two digits.
    rounding = 0.05 if arrows >= 1 else 0.005
    assert abs(found["arrow"].mean() - arrows) <= tolerance(found["arrow"].std(), WATCHED) + rounding


@pytest.mark.parametrize("hundred", range(len(DAMAGE)))
def test_a_player_that_stands_still_is_hurt_as_in_the_reference(watched, hundred):
    found = watched.damage[:, hundred]
    assert abs(found.mean() - DAMAGE[hundred]) <= tolerance(found.std(), WATCHED) + 0.05


class Lives(NamedTuple):
    """Lives of a random player: (2000,) and achievements (2000, 22)."""

    lengths: np.ndarray
    returns: np.ndarray
    achieved: np.ndarray
    deaths: list[str]


@pytest.fixture(scope="module")
def lives():
    """The first 20 lives in each of 100 series of worlds."""
    batch = LIVES // SERIES
    envs = CrafterVecEnv(batch, 1, profile="crafter", obs=None)
    envs.reset(seed=9000)
    states = [envs.crafter_state(world) for world in range(batch)]
    rng = np.random.default_rng(0)
    lived, returns = np.zeros(batch, dtype=int), np.zeros(batch)
    found = Lives([], [], [], [])
    while lived.min() < SERIES:
        _, rewards, terminations, truncations, infos = envs.step(rng.integers(17, size=(batch, 1)))
        returns += rewards[:, 0]
        for world in np.flatnonzero(terminations | truncations):
            if lived[world] < SERIES:
                found.lengths.append(infos["step"][world])
                found.returns.append(returns[world])
                found.achieved.append(infos["achievements"][world, 0] > 0)
                found.deaths.append(_death(states[world]))
            lived[world] += 1
            returns[world] = 0
    return Lives(np.array(found.lengths), np.array(found.returns), np.array(found.achieved), found.deaths)


def _death(state):
    if state.materials[tuple(state.positions[0])] == Material.lava:
        return "lava"
    return "needs" if (state.inventory[0, Item.food : Item.sapling] == 0).any() else "mobs"


@pytest.mark.conformance
def test_random_lives_are_as_long_as_those_of_the_reference(lives):
    assert len(lives.lengths) == LIVES
    assert abs(lives.lengths.mean() - 168.1) <= tolerance(46.5, LIVES)
    assert lives.lengths.std() == pytest.approx(46.5, rel=0.1)
    for share, length in ((0.05, 83), (0.5, 165), (0.95, 242)):
        slack = rate_tolerance(share, LIVES)
        assert (lives.lengths < length).mean() - slack <= share <= (lives.lengths <= length).mean() + slack, length


@pytest.mark.conformance
def test_random_lives_are_as_rich_as_those_of_the_reference(lives):
    assert abs(lives.returns.mean() - 1.39) <= tolerance(1.21, LIVES)
    assert lives.returns.std() == pytest.approx(1.21, rel=0.1)
    resamples = np.random.default_rng(1).integers(LIVES, size=(200, LIVES))
    deviation = np.std([_score(lives.achieved[sample]) for sample in resamples])
    assert abs(_score(lives.achieved) - 1.5) <= 3 * math.sqrt(2) * deviation + 0.05


@pytest.mark.conformance
@pytest.mark.parametrize("name", Achievement.__members__)
def test_random_lives_reach_what_those_of_the_reference_do(lives, name):
    rate = RATES.get(name, 0)
    found = lives.achieved[:, Achievement[name]].mean()
    assert abs(found - rate) <= max(rate_tolerance(rate, LIVES), 3 / LIVES)


@pytest.mark.conformance
@pytest.mark.parametrize("cause", DEATHS)
def test_random_lives_end_as_those_of_the_reference(lives, cause):
    assert abs(lives.deaths.count(cause) / LIVES - DEATHS[cause]) <= rate_tolerance(DEATHS[cause], LIVES)


def _score(achieved):
    """Crafter's: the geometric mean of success rates in percent, moved by one."""
    return math.exp(np.log1p(100 * achieved.mean(axis=0)).mean()) - 1

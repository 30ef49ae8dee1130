"""What holds in every world after every step, whoever plays and by whatever rules."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crafter_env import LEVELS, NEEDS, PROFILES, CrafterEnv, Entity, Item, Material
from crafter_env.constants import CHUNK
from crafter_env.kernels.arrays import COWS, GRASS, KIND, PATHS, SLOTS, X, Y


@settings(max_examples=settings.default.max_examples // 2)
@given(
    n=st.integers(1, 9),
    profile=st.sampled_from(["coop", "coop2"]),
    level=st.sampled_from(sorted(LEVELS)),
    seed=st.integers(0, 2**31),
)
def test_tables_maps_and_counts_agree(n, profile, level, seed):
    env = CrafterEnv(n, profile=profile, level=level)
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    for step in range(120):
        if not env.agents:
            break
        actions = rng.integers(18, size=(n, 4))
        actions[:, 1:] = np.column_stack(
            (rng.integers(n + 1, size=n), rng.integers(17, size=n), rng.integers(4, size=n))
        )
        env.step_array(actions)
        state = env.crafter_state
        if step < 60:
            state.inventory[state.alive, : len(NEEDS)] = 9
        state.inventory[rng.integers(n), rng.integers(Item.sapling, len(Item))] = 5
        if step % 20 == 19:
            check_bookkeeping(state)
            check_agents(env)


def check_bookkeeping(state):
    """Map and table of objects name each other; the chunks' counts are those that a count from scratch gives."""
    world = state.world
    used = world.objects[: world.counters[SLOTS]]
    there = np.flatnonzero(used[:, KIND])
    occupied = np.argwhere(world.occupants)
    assert len(occupied) == len(there)
    for slot in there.tolist():
        assert world.occupants[used[slot, X], used[slot, Y]] == slot + 1
    rows = -(-world.materials.shape[1] // CHUNK)
    for chunk, counts in enumerate(world.chunks):
        left, top = chunk // rows * CHUNK, chunk % rows * CHUNK
        window = world.materials[left : left + CHUNK, top : top + CHUNK]
        assert counts[GRASS] == (window == Material.grass).sum()
        assert counts[PATHS] == (window == Material.path).sum()
        inside = (used[there, X] // CHUNK == left // CHUNK) & (used[there, Y] // CHUNK == top // CHUNK)
        kinds = used[there[inside], KIND]
        for number, kind in enumerate((Entity.cow, Entity.zombie, Entity.skeleton)):
            assert counts[COWS + number] == (kinds == kind).sum()


def check_agents(env):
    """The living stand on cells of their own, and nobody has less than nothing."""
    state = env.crafter_state
    living = state.positions[state.alive].tolist()
    assert len({tuple(cell) for cell in living}) == len(living) == len(env.agents)
    assert state.inventory.min() >= 0
    for agent in range(env.n):
        assert env.outcome(f"agent_{agent}").failed in (True, False)


def test_the_published_thresholds_and_points():
    resources = (Material.tree, Material.stone, Material.coal, Material.iron, Material.diamond)
    table = {"easy": (1, 1, 1, 1, 2), "medium": (1, 1, 2, 2, 2), "hard": (1, 2, 2, 3, 3), "coop2": (1, 1, 2, 3, 3)}
    for name, thresholds in table.items():
        assert tuple(LEVELS[name].threshold(material, 6) for material in resources) == thresholds
    assert [LEVELS["coop2"].score(material, 3) for material in resources] == [1, 15, 75, 150, 600]
    assert [LEVELS[name].radius for name in table] == [2, 2, 1, 1]
    assert [LEVELS[name].quorum(6) for name in table] == [1, 1, 2, 1]
    assert [PROFILES[name].level.name for name in ("crafter", "coop", "coop2")] == ["solo", "easy", "coop2"]

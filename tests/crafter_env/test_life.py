"""Needs, death, mobs and places to begin, for one agent and for several."""

from dataclasses import replace

import numpy as np
import pytest

from crafter_env import NEEDS, PROFILES, Action, CrafterEnv, Entity, Item, Level, Material, PlacementError, Result
from crafter_env.constants import WALKABLE
from tests.crafter_env.boards import DO, NOOP, QUIET, act, world

MOBS = PROFILES["coop"]


def field(*things, size=25):
    """A meadow with characters at cells."""
    rows = [["."] * size for _ in range(size)]
    for character, (x, y) in things:
        rows[y][x] = character
    return "\n".join("".join(row) for row in rows)


def test_without_food_and_drink_an_agent_dies_at_step_338():
    env = world("...\n.0.\n...")
    health = {}
    while env.agents:
        act(env, NOOP)
        state = env.crafter_state
        health[state.step] = state.inventory[0].tolist()[:4]
    assert (health[189][2], health[188][2]) == (0, 1)
    assert (health[234][1], health[233][1]) == (0, 1)
    assert (health[279][3], health[278][3]) == (0, 1)
    assert (health[209][0], health[210][0], health[226][0]) == (9, 8, 7)
    assert max(health) == 338


def test_a_sleeper_wakes_when_its_energy_is_full():
    env = world("...\n.0.\n...", {0: {Item.energy: 3}})
    env.crafter_state.world.agents[0, 6] = 5  # fatigue
    gained, energy = [], 3
    while True:
        outcome = act(env, Action.sleep)[0]
        if env.crafter_state.inventory[0, Item.energy] > energy:
            energy += 1
            gained.append(env.crafter_state.step)
        if outcome.result == Result.not_tired:
            break
    assert gained == [12, 23, 34, 45, 56, 67]
    assert env.crafter_state.step == 68
    assert not env.crafter_state.sleeping[0]


def test_death_terminates_one_and_its_body_leaves_the_map():
    env = world("....\n0.1.\n!...", max_steps=5)
    _, rewards, terminations, truncations, _ = env.step({"agent_0": Action.move_down, "agent_1": NOOP})
    assert rewards["agent_0"] == pytest.approx(-0.9)
    assert (terminations["agent_0"], truncations["agent_0"], terminations["agent_1"]) == (True, False, False)
    assert env.agents == ["agent_1"]
    assert env.crafter_state.entity_at((0, 2)) == Entity.none
    assert env.crafter_state.alive.tolist() == [False, True]
    observations, *_ = env.step({"agent_1": NOOP})
    assert list(observations) == ["agent_1"]
    for _ in range(3):
        _, _, terminations, truncations, _ = env.step({"agent_1": NOOP})
    assert (terminations, truncations) == ({"agent_1": False}, {"agent_1": True})
    assert env.agents == []


def test_when_all_are_dead_the_episode_ends():
    env = world("...\n0.1\n!.!")
    env.step({"agent_0": Action.move_down, "agent_1": Action.move_down})
    assert env.agents == []


def test_a_goal_ends_the_episode_for_everybody():
    env = world("....\n0T.1\n....", goal="collect_wood")
    _, rewards, terminations, truncations, _ = env.step({"agent_0": DO, "agent_1": NOOP})
    assert (terminations, truncations) == ({"agent_0": True, "agent_1": True}, {"agent_0": False, "agent_1": False})
    assert rewards == {"agent_0": 1.0, "agent_1": 0.0}
    assert env.agents == []


@pytest.mark.parametrize("sleeper", [False, True])
def test_a_zombie_goes_for_the_nearest_living_agent(sleeper):
    env = world(field(("0", (2, 12)), ("Z", (12, 12)), ("1", (16, 12))), {1: {Item.energy: 1}}, profile=MOBS)
    env.step({"agent_0": NOOP, "agent_1": Action.sleep if sleeper else NOOP})
    for _ in range(12):
        act(env, NOOP)
    hurt = env.crafter_state.inventory[:, Item.health].tolist()
    assert hurt[0] == 9
    assert hurt[1] <= (2 if sleeper else 7)


def test_monsters_pass_over_the_dead():
    env = world(field(("0", (12, 11)), ("!", (12, 12)), ("Z", (12, 14)), ("1", (12, 20))), profile=MOBS)
    act(env, Action.move_down, NOOP)
    for _ in range(25):
        act(env, NOOP)
    assert env.crafter_state.inventory[1, Item.health] < 9


@pytest.mark.parametrize(("radius", "moves"), [(18, False), (None, True), (21, True)])
def test_objects_far_from_every_living_agent_are_frozen(radius, moves):
    layout = field(("0", (0, 0)), ("C", (20, 0)))
    env = world(layout, profile=replace(QUIET, update_radius=radius))
    for _ in range(8):
        act(env, NOOP)
    assert (env.crafter_state.creatures()[0].cell != (20, 0)) == moves


def test_any_living_agent_wakes_the_objects_around_it():
    env = world(field(("0", (0, 0)), ("C", (20, 0)), ("1", (24, 24))), profile=replace(QUIET, update_radius=18))
    for _ in range(8):
        act(env, NOOP)
    frozen = env.crafter_state.creatures()[0].cell
    env = world(field(("0", (0, 0)), ("C", (20, 0)), ("1", (20, 8))), profile=replace(QUIET, update_radius=18))
    for _ in range(8):
        act(env, NOOP)
    assert (frozen, env.crafter_state.creatures()[0].cell != (20, 0)) == ((20, 0), True)


def test_monsters_appear_far_from_every_agent():
    env = CrafterEnv(n=3)
    env.reset(seed=4)
    known = {creature.id for creature in env.crafter_state.creatures()}
    came = 0
    for _ in range(300):
        state = env.crafter_state
        state.inventory[:, : len(NEEDS)] = 9
        act(env, NOOP)
        for creature in state.creatures():
            if creature.id not in known and creature.kind in (Entity.zombie, Entity.skeleton, Entity.cow):
                known.add(creature.id)
                away = np.abs(state.positions - creature.cell).sum(axis=1).min()
                assert away >= {Entity.zombie: 6, Entity.skeleton: 7, Entity.cow: 5}[creature.kind]
                came += 1
    assert came > 20


def test_without_mobs_there_are_cows_alone():
    env = CrafterEnv(n=3, profile="coop2")
    kinds = set()
    for seed in range(5):
        env.reset(seed=seed)
        for _ in range(200):
            act(env, DO)
        kinds |= {creature.kind for creature in env.crafter_state.creatures()}
        assert not env.crafter_state.inventory[:, Item.sapling].any()
    assert kinds == {Entity.cow}


def test_an_arrow_breaks_a_table_and_then_hurts():
    env = world("########\n#0t__K_#\n########", profile=MOBS)
    least = 9
    for _ in range(100):
        act(env, NOOP)
        least = min(least, int(env.crafter_state.inventory[0, Item.health]))
        if env.crafter_state.material_at((2, 1)) == Material.table:
            assert least == 9
        env.crafter_state.inventory[0, : len(NEEDS)] = 9
    assert env.crafter_state.material_at((2, 1)) == Material.path
    assert least == 7


def test_a_ripe_plant_feeds_and_an_unripe_one_does_not():
    env = world("...\n.0.\n.R.", {0: {Item.food: 1}}, profile=MOBS)
    outcome = act(env, DO)[0]
    assert (outcome.result, outcome.amount, env.crafter_state.inventory[0, Item.food]) == (Result.ate, 4, 5)
    assert act(env, DO)[0].result == Result.not_ripe


def test_a_cluster_is_the_free_cells_nearest_to_the_middle_of_one_component():
    env = CrafterEnv(n=6)
    for seed in range(5):
        env.reset(seed=seed)
        state = env.crafter_state
        cells = [tuple(cell) for cell in state.positions.tolist()]
        assert len(set(cells)) == 6
        assert all(state.material_at(cell) in WALKABLE for cell in cells)
        reached, frontier = {cells[0]}, [cells[0]]
        while frontier:
            x, y = frontier.pop()
            for cell in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                free = state.material_at(cell) in WALKABLE and state.entity_at(cell) in (Entity.none, Entity.player)
                if free and cell not in reached:
                    reached.add(cell)
                    frontier.append(cell)
        distances = sorted(abs(x - 32) + abs(y - 32) for x, y in reached)
        assert sorted(abs(x - 32) + abs(y - 32) for x, y in cells) == distances[:6]


def test_random_grass_is_spread_over_the_map():
    env = CrafterEnv(n=8, profile="coop2")
    cells = []
    for seed in range(20):
        env.reset(seed=seed)
        state = env.crafter_state
        here = [tuple(cell) for cell in state.positions.tolist()]
        assert len(set(here)) == 8
        assert all(state.material_at(cell) == Material.grass for cell in here)
        cells += here
    assert np.std(cells, axis=0).min() > 10


def test_more_agents_than_cells_is_said_before_anything_begins():
    with pytest.raises(PlacementError, match="room for"):
        CrafterEnv(n=4000).reset(seed=0)


def test_a_hundred_agents_live():
    env = CrafterEnv(n=100)
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(50):
        env.step_array(rng.integers(17, size=100))
    positions = env.crafter_state.positions[env.crafter_state.alive]
    assert len(np.unique(positions, axis=0)) == len(positions) > 50


def test_every_published_profile_begins_and_steps():
    for name in PROFILES:
        env = CrafterEnv(n=1, profile=name)
        env.reset(seed=1)
        act(env, DO)
        assert env.crafter_state.step == 1
    assert CrafterEnv(n=2, profile="coop2").level == Level("coop2", coal=2, iron=3, diamond=3)

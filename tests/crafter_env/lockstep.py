"""One player in this project's world and in PyPI `crafter`, side by side."""

from __future__ import annotations

import numpy as np

from crafter_env import Achievement, CrafterEnv, Item
from crafter_env.kernels.arrays import FACING_X, FATIGUE, HUNGER, KIND, RECOVER, SLEEPING, SLOTS, THIRST, TIMER
from tests.crafter_env.reference import ReferenceEnv

NEEDS = (Item.health, Item.food, Item.drink, Item.energy)


def pair(seed, length=10000):
    """Both environments at the beginning of their first episode."""
    ours, original = CrafterEnv(n=1, profile="crafter", max_steps=length), ReferenceEnv(seed, length)
    ours.reset(seed=seed)
    original.reset()
    return ours, original


def play(seed, stream, steps, top_up=False, length=10000):
    """Step both by one stream of actions, compare everything at every step; give the achievements and the deaths."""
    ours, original = pair(seed, length)
    achieved, deaths = np.zeros(len(Achievement), dtype=np.int64), 0
    assert_same(ours, original)
    for _ in range(steps):
        if top_up:
            for need in NEEDS:
                original.player.inventory[need.name] = ours.crafter_state.inventory[0, need] = 9
        action = stream(original)
        _, reward, done, info = original.step(action)
        ends = ours.step_array([action])
        assert ends.rewards[0] == reward
        dead = info["discount"] == 0
        assert (ends.terminations[0], ends.truncations[0]) == (dead, done and not dead)
        # A dead player's body leaves the map here, and stays in Crafter.
        assert_same(ours, original, without_player=dead)
        if done:
            achieved += ours.crafter_state.achievements[0]
            deaths += dead
            ours.reset()
            original.reset()
            assert_same(ours, original)
    return achieved + ours.crafter_state.achievements[0], deaths


def assert_same(ours, original, without_player=False):
    """Everything that one can tell a world by: cells, objects, needs, bag, achievements, light, random numbers."""
    state, player = ours.crafter_state, original.player
    assert state.step == original._step
    assert (state.materials == original.world._mat_map).all()
    objects = state.world.objects[1 : state.world.counters[SLOTS]]
    assert objects[objects[:, KIND] > 0, : TIMER + 1].tolist() == original.table()[1:]
    assert state.positions[0].tolist() == player.pos.tolist()
    assert state.alive[0] == (not without_player)
    assert state.inventory[0].tolist() == [player.inventory[item.name] for item in Item]
    assert state.achievements[0].tolist() == [player.achievements[name.name] for name in Achievement]
    body = state.world.agents[0]
    mine = [*body[FACING_X : FACING_X + 2], *body[[SLEEPING, HUNGER, THIRST, FATIGUE, RECOVER]]]
    assert mine == original.body()
    assert state.daylight == original.world.daylight
    _, words, position, *_ = original.world.random.get_state()
    assert state.world.generator[624] == position
    assert (state.world.generator[:624] == words).all()

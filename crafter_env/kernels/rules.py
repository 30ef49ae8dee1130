"""Rules and recipes as numbers for the kernels."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from crafter_env.constants import ARROW_FLIES_OVER, COLLECT, DAY, MAKE, PLACE, WALKABLE, Action, Material
from crafter_env.kernels.arrays import IntArray
from crafter_env.profiles import Level, Profile, Spawn

MATERIALS: Final = len(Material)

RULES: Final = 18
(
    COLLECT_RULE, MOBS, ITEM_CAP, UPDATE_RADIUS, IRON_NEEDS_TABLE, SHARING, SHARE_RADIUS, CRAFT_RADIUS, SPAWN, SPLIT,
    RADIUS, QUORUM, MAX_STEPS, GOAL, AGENTS, CENTRE_X, CENTRE_Y, LUCK,
) = range(RULES)  # fmt: skip
THRESHOLDS: Final = RULES
"""Column of the threshold of material 0; those of the others follow."""

ANYWHERE: Final = 1 << 30
"""A radius that covers every map."""


def encode_rules(
    profile: Profile, level: Level, n: int, size: tuple[int, int], max_steps: int, goal: int | None
) -> IntArray:
    """Return the rule switches as an array of `RULES` numbers, followed by the threshold of each material."""
    rules = np.zeros(RULES + MATERIALS, dtype=np.int64)
    rules[COLLECT_RULE] = profile.collect
    rules[MOBS] = profile.mobs
    rules[ITEM_CAP] = profile.item_cap
    rules[UPDATE_RADIUS] = ANYWHERE if profile.update_radius is None else profile.update_radius
    rules[IRON_NEEDS_TABLE] = profile.iron_needs_table
    rules[SHARING] = profile.sharing
    rules[SHARE_RADIUS] = ANYWHERE if profile.share_radius is None else profile.share_radius
    rules[CRAFT_RADIUS] = profile.craft_radius
    rules[SPAWN] = profile.spawn
    rules[SPLIT] = profile.yields
    rules[RADIUS] = level.radius
    rules[QUORUM] = level.quorum(n)
    rules[MAX_STEPS] = max_steps
    rules[GOAL] = -1 if goal is None else goal
    rules[AGENTS] = n
    rules[CENTRE_X], rules[CENTRE_Y] = size[0] // 2, size[1] // 2
    rules[LUCK] = profile.luck
    for material in Material:
        rules[THRESHOLDS + material] = level.threshold(material, n)
    return rules


SPAWN_CENTRE: Final = int(Spawn.centre)
SPAWN_CLUSTER: Final = int(Spawn.cluster)


def _mask(materials: tuple[Material, ...]) -> int:
    return sum(1 << material for material in materials)


WALKABLE_MASK: Final = _mask(WALKABLE)
"""One bit per material."""
PLAYER_MASK: Final = _mask((*WALKABLE, Material.lava))
ARROW_MASK: Final = _mask(ARROW_FLIES_OVER)
STATION_MASK: Final = _mask((Material.table, Material.furnace))

COLLECTED_ITEM, COLLECT_TOOL, LEFT, COLLECT_ACHIEVEMENT = range(4)


def _collect_table() -> IntArray:
    table = np.full((MATERIALS, 4), -1, dtype=np.int64)
    for material, recipe in COLLECT.items():
        tool = -1 if recipe.tool is None else int(recipe.tool)
        table[material] = recipe.item, tool, recipe.leaves, recipe.achievement
    return table


COLLECT_TABLE: Final = _collect_table()
"""For each material: item, tool or -1, remaining material, achievement; a row of -1 if it cannot be collected."""
COLLECT_PROBABILITY: Final = np.array([COLLECT[m].probability if m in COLLECT else 0.0 for m in Material])

PLACED_ITEM, PLACED_AMOUNT, PLACED_WHERE, PUT, PLACE_ACHIEVEMENT = range(5)


def _place_table() -> IntArray:
    table = np.zeros((len(Action), 5), dtype=np.int64)
    for action, recipe in PLACE.items():
        table[action] = recipe.item, recipe.amount, _mask(recipe.where), recipe.puts, recipe.achievement
    return table


PLACE_TABLE: Final = _place_table()
"""For each action: item and amount, a bit mask of the supporting materials, the object placed, achievement."""

MADE, MAKE_ACHIEVEMENT, NEEDS_FURNACE, INPUTS = range(4)
MAX_INPUTS: Final = 3


def _make_table() -> IntArray:
    table = np.zeros((len(Action), INPUTS + 2 * MAX_INPUTS), dtype=np.int64)
    for action, recipe in MAKE.items():
        table[action, :INPUTS] = recipe.item, recipe.achievement, Material.furnace in recipe.stations
        for number, (item, amount) in enumerate(recipe.uses):
            table[action, INPUTS + 2 * number :][:2] = item, amount
    return table


MAKE_TABLE: Final = _make_table()
"""For each action: item, achievement, whether it needs a furnace; then pairs of an input and its amount."""


def daylight(step: int) -> float:
    """Return the daylight at a step, from 0 at midnight to 1 at noon. Source: Crafter 1.8.3, `Env._update_time`."""
    progress = (step / DAY) % 1 + 0.3
    return 1 - math.pow(abs(math.cos(math.pi * progress)), 3.0)

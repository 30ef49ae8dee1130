"""What a `do` aims at, as kernels: the one rule by which cells are collected, and attempts at tasks are counted."""

from __future__ import annotations

from typing import Final

from crafter_env.constants import Entity
from crafter_env.kernels.arrays import FACING_X, FACING_Y, KIND, IntArray, World, X, Y
from crafter_env.kernels.grid import COW, GRASS_ID, cell_at, inside, material_at, slot_at
from crafter_env.kernels.jit import inner
from crafter_env.kernels.rules import COLLECT_RULE, COLLECT_TABLE, COLLECTED_ITEM, MOBS, RADIUS
from crafter_env.profiles import CollectRule

NO_CELL: Final = -1
"""Aim of a `do` that acts on nothing."""
AREA_AIM: Final = -2
"""Aim of a `do` that acts on every resource and cow within the radius."""
OBJECT_AIM: Final = -3
"""Aim of a `do` that is the agent's own affair: at the animal, monster, plant or, by the rule `facing`, agent faced."""
_PLAYER: Final = int(Entity.player)
_FACING, _AREA = int(CollectRule.facing), int(CollectRule.area)


@inner
def aim_of(w: World, rules: IntArray, agent: int) -> int:
    """What an agent's `do` would act on: a cell (see `grid.cell_at`), or one of the aims above.

    Grass is aimed at when it is faced and nothing else is in reach.
    """
    rule = rules[COLLECT_RULE]
    here_x, here_y = w.objects[agent, X], w.objects[agent, Y]
    x, y = here_x + w.agents[agent, FACING_X], here_y + w.agents[agent, FACING_Y]
    faced_grass = False
    if inside(w, x, y):
        slot = slot_at(w, x, y)
        kind = w.objects[slot, KIND] if slot >= 0 else 0
        if kind != 0 and (kind != _PLAYER or rule == _FACING) and not (kind == COW and rule == _AREA):
            return OBJECT_AIM
        faced_grass = kind == 0 and material_at(w, x, y) == GRASS_ID and rules[MOBS] != 0
        if kind == 0 and rule != _AREA and _holds_resource(w, x, y):
            return cell_at(w, x, y)
    if rule != _FACING:
        for distance in range(1, rules[RADIUS] + 1):
            for dy in range(-distance, distance + 1):
                dx = distance - abs(dy)
                for side in (-dx, dx):
                    if is_target(w, here_x + side, here_y + dy, rule):
                        return AREA_AIM if rule == _AREA else cell_at(w, here_x + side, here_y + dy)
    return cell_at(w, x, y) if faced_grass else NO_CELL


@inner
def is_target(w: World, x: int, y: int, rule: int) -> bool:
    """Whether a cell holds a resource, or by the rule `area` a cow."""
    if not inside(w, x, y):
        return False
    slot = slot_at(w, x, y)
    if slot >= 0:
        return rule == _AREA and w.objects[slot, KIND] == COW
    return _holds_resource(w, x, y)


@inner
def _holds_resource(w: World, x: int, y: int) -> bool:
    material = material_at(w, x, y)
    return material != GRASS_ID and COLLECT_TABLE[material, COLLECTED_ITEM] >= 0

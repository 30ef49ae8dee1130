"""The cooperation constraints of tasks, as kernels; `crafter_env.constraints` says what they are."""

from __future__ import annotations

from typing import Final

import numpy as np

from crafter_env.constants import NEED_MAX, Action, Entity, Item, Material
from crafter_env.kernels.arrays import (
    ALIVE,
    FACING_X,
    FACING_Y,
    INVENTORY,
    KIND,
    SLEEPING,
    ByteArray,
    IntArray,
    SlotArray,
    X,
    Y,
)  # fmt: skip
from crafter_env.kernels.jit import compiled
from crafter_env.kernels.rules import COLLECT_RULE, COLLECT_TABLE, COLLECT_TOOL, COLLECTED_ITEM, RADIUS, THRESHOLDS
from crafter_env.kernels.sight import HALF_HEIGHT, HALF_WIDTH
from crafter_env.profiles import SCORE_BASE, CollectRule

NUMBERS: Final = 7
TASK_MATERIAL, THRESHOLD, SPATIAL, TEMPORAL, PARTICIPATION, JOINT, DEPENDENCY = range(NUMBERS)
NO_CELL: Final = -1
"""Aim of an agent whose `do` acts on no cell."""
AREA_AIM: Final = -2
"""Aim of an agent whose `do` acts on every cell within the radius."""
_DO = int(Action.do)
_GRASS = int(Material.grass)
_ENERGY = int(Item.energy)
_PLAYER, _COW = int(Entity.player), int(Entity.cow)
_FACING, _AREA = int(CollectRule.facing), int(CollectRule.area)
_IS_TASK: Final = np.array(
    [
        material in range(len(Material)) and COLLECT_TABLE[material, COLLECTED_ITEM] in SCORE_BASE
        for material in Material
    ]
)


@compiled
def aim_all(
    materials: ByteArray,
    occupants: SlotArray,
    objects: IntArray,
    agents: IntArray,
    joint: IntArray,
    rules: IntArray,
    aims: IntArray,
) -> None:
    """Write what each agent's `do` would act on: a cell (x * height + y), `AREA_AIM` or `NO_CELL`.

    A `do` at a faced creature acts on that creature; in the rule `area` a cow is no obstacle.
    """
    for i in range(agents.shape[0]):
        aims[i] = NO_CELL
        awake = agents[i, SLEEPING] == 0 or agents[i, INVENTORY + _ENERGY] >= NEED_MAX
        if agents[i, ALIVE] and awake and joint[i] == _DO:
            aims[i] = _aim(materials, occupants, objects, agents, i, rules)


@compiled
def _aim(
    materials: ByteArray, occupants: SlotArray, objects: IntArray, agents: IntArray, i: int, rules: IntArray
) -> int:
    rule = rules[COLLECT_RULE]
    x, y = objects[i, X], objects[i, Y]
    u, v = x + agents[i, FACING_X], y + agents[i, FACING_Y]
    if 0 <= u < materials.shape[0] and 0 <= v < materials.shape[1]:
        slot = np.int64(occupants[u, v]) - 1
        kind = objects[slot, KIND] if slot >= 0 else 0
        passes = kind == 0 or (kind == _PLAYER and rule != _FACING) or (kind == _COW and rule == _AREA)
        if not passes:
            return NO_CELL
        if kind == 0 and rule != _AREA and _is_resource(materials, u, v):
            return u * materials.shape[1] + v
    if rule == _AREA:
        return AREA_AIM
    if rule != _FACING:
        for distance in range(1, rules[RADIUS] + 1):
            for dy in range(-distance, distance + 1):
                for side in (abs(dy) - distance, distance - abs(dy)):
                    u, v = x + side, y + dy
                    inside = 0 <= u < materials.shape[0] and 0 <= v < materials.shape[1]
                    if inside and occupants[u, v] == 0 and _is_resource(materials, u, v):
                        return u * materials.shape[1] + v
    return NO_CELL


@compiled
def _is_resource(materials: ByteArray, x: int, y: int) -> bool:
    material = np.int64(materials[x, y])
    return material != _GRASS and COLLECT_TABLE[material, COLLECTED_ITEM] >= 0


@compiled
def task_changes(
    materials: ByteArray,
    objects: IntArray,
    agents: IntArray,
    rules: IntArray,
    joint: IntArray,
    named: IntArray,
    aims: IntArray,
    numbers: IntArray,
    stamps: IntArray,
    active: IntArray,
    count: IntArray,
    changed: IntArray,
) -> int:
    """Bring the numbers of all tasks up to date.

    Args:
        materials: see `World`.
        objects: see `World`.
        agents: see `World`.
        rules: see `rules.encode_rules`.
        joint: (n,) primitives.
        named: (n,) cells that symbolic actions collect, or -1.
        aims: (n,) from `aim_all`.
        numbers: (W H, NUMBERS) of each cell, all 0 where there is no task; written here.
        stamps: (W H,) the last call in which a cell was in view; written here.
        active: (W H,) the cells that are tasks, in the first `count[0]` places; written here.
        count: (2,) length of `active`, and number of calls; written here.
        changed: (2 W H,) the cells that are new; written here.

    Returns:
        The number of cells in `changed`.
    """
    width, height = materials.shape
    count[1] += 1
    now, before, found = count[1], count[0], 0
    for i in range(agents.shape[0]):
        if agents[i, ALIVE] == 0:
            continue
        x, y = objects[i, X], objects[i, Y]
        for u in range(max(x - HALF_WIDTH, 0), min(x + HALF_WIDTH + 1, width)):
            for v in range(max(y - HALF_HEIGHT, 0), min(y + HALF_HEIGHT + 1, height)):
                cell = u * height + v
                if stamps[cell] == now or not _IS_TASK[materials[u, v]]:
                    continue
                stamps[cell] = now
                if numbers[cell, THRESHOLD] == 0:
                    active[count[0]] = cell
                    count[0] += 1
                if _count(materials, objects, agents, rules, joint, named, aims, u, v, numbers[cell]):
                    changed[found] = cell
                    found += 1
    kept = 0
    for k in range(count[0]):
        cell = active[k]
        if stamps[cell] == now:
            active[kept] = cell
            kept += 1
        elif k < before:
            numbers[cell] = 0
            changed[found] = cell
            found += 1
    count[0] = kept
    return found


@compiled
def _count(
    materials: ByteArray,
    objects: IntArray,
    agents: IntArray,
    rules: IntArray,
    joint: IntArray,
    named: IntArray,
    aims: IntArray,
    u: int,
    v: int,
    numbers: IntArray,
) -> bool:
    """Write the numbers of one task; tell whether they have changed."""
    cell = u * materials.shape[1] + v
    material = np.int64(materials[u, v])
    tool = COLLECT_TABLE[material, COLLECT_TOOL]
    spatial = temporal = participation = joint_count = 0
    for i in range(agents.shape[0]):
        if agents[i, ALIVE] == 0:
            continue
        in_place = abs(objects[i, X] - u) + abs(objects[i, Y] - v) <= rules[RADIUS]
        works = aims[i] == cell or (aims[i] == AREA_AIM and in_place)
        works = works or (joint[i] == _DO and named[i] == cell and not in_place)
        capable = tool < 0 or agents[i, INVENTORY + tool] > 0
        spatial += in_place
        temporal += works
        participation += capable
        joint_count += in_place and works and capable
    dependency = tool < 0 or participation > 0
    new = False
    values = (material, rules[THRESHOLDS + material], spatial, temporal, participation, joint_count, int(dependency))
    for k in range(NUMBERS):
        if numbers[k] != values[k]:
            numbers[k] = values[k]
            new = True
    return new

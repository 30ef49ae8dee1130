"""Kernels of the cooperation constraints of tasks; see `crafter_env.constraints` for their meaning."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from crafter_env.constants import Material
from crafter_env.kernels.arrays import ALIVE, INVENTORY, IntArray, World, X, Y
from crafter_env.kernels.collecting import DO
from crafter_env.kernels.grid import AREA_AIM, NO_CELL, aim_of
from crafter_env.kernels.jit import compiled
from crafter_env.kernels.living import sleeps_on
from crafter_env.kernels.rules import COLLECT_TABLE, COLLECT_TOOL, COLLECTED_ITEM, RADIUS, THRESHOLDS
from crafter_env.kernels.sight import HALF_HEIGHT, HALF_WIDTH
from crafter_env.profiles import SCORE_BASE

NUMBERS: Final = 7
TASK_MATERIAL, THRESHOLD, SPATIAL, TEMPORAL, PARTICIPATION, JOINT, ABLE = range(NUMBERS)
_IS_TASK: Final = np.array(
    [
        material in range(len(Material)) and COLLECT_TABLE[material, COLLECTED_ITEM] in SCORE_BASE
        for material in Material
    ]
)


@compiled
def aim_all(joint: IntArray, rules: IntArray, aims: IntArray, *world: Any) -> None:
    """Write the target of each agent's `do`.

    Args:
        joint: (n,) primitives.
        rules: see `rules.encode_rules`.
        aims: (n,) see `grid.aim_of`; `NO_CELL` for agents with another action; written.
        world: the fields of `World`, in its order.
    """
    materials, occupants, objects, agents, chunks, counters, generator = world
    w = World(materials, occupants, objects, agents, chunks, counters, generator)
    for agent in range(agents.shape[0]):
        does = agents[agent, ALIVE] != 0 and joint[agent] == DO and not sleeps_on(w, agent)
        aims[agent] = aim_of(w, rules, agent) if does else NO_CELL


@compiled
def task_changes(
    numbers: IntArray, changed: IntArray, stamps: IntArray, active: IntArray, count: IntArray, *given: Any
) -> int:
    """Update the numbers of all tasks.

    Args:
        numbers: (W H, NUMBERS) for each cell, all 0 if it is not a task; written here.
        changed: (2 W H,) the cells that changed; written here.
        stamps: (W H,) the last call in which a cell was in view; written here.
        active: (W H,) the cells that are tasks, in the first `count[0]` entries; written here.
        count: (2,) length of `active`, and number of calls; written here.
        given: materials, objects and agents, see `World`; the rules, see `rules.encode_rules`; and for each agent,
            (n,), its primitive, the cells that its symbolic action collects and its live plan works at, or -1, and its
            aim from `aim_all`.

    Returns:
        The number of cells in `changed`.
    """
    materials, objects, agents = given[:3]
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
                if _count(u, v, numbers[cell], *given):
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
def _count(u: int, v: int, numbers: IntArray, *given: Any) -> bool:
    """Write the numbers of one task; return whether they have changed."""
    materials, objects, agents, rules, joint, named, served, aims = given
    cell = u * materials.shape[1] + v
    material = np.int64(materials[u, v])
    tool = COLLECT_TABLE[material, COLLECT_TOOL]
    threshold = rules[THRESHOLDS + material]
    spatial = temporal = participation = joint_count = holders = 0
    for i in range(agents.shape[0]):
        if agents[i, ALIVE] == 0:
            continue
        in_place = abs(objects[i, X] - u) + abs(objects[i, Y] - v) <= rules[RADIUS]
        works = aims[i] == cell or (aims[i] == AREA_AIM and in_place)
        works = works or (joint[i] == DO and named[i] == cell and not in_place)
        capable = tool < 0 or agents[i, INVENTORY + tool] > 0
        spatial += in_place
        temporal += works
        participation += works or served[i] == cell
        holders += capable
        joint_count += in_place and works and capable
    able = holders if tool >= 0 else threshold
    new = False
    values = (material, threshold, spatial, temporal, participation, joint_count, able)
    for k in range(NUMBERS):
        if numbers[k] != values[k]:
            numbers[k] = values[k]
            new = True
    return new

"""Cooperative collection, as kernels.

Source: EmCoop (arXiv 2603.00349), MA-Crafter; Crafter 1.8.3, `objects.py`, `Player`; docs/crafter.md, profiles.

All `do` actions of a step are resolved together, before anything moves. With one agent and the rule `facing`, this is
Crafter's own rule, draw for draw. A `do` at a faced animal, monster or plant is handled by the agent's own update.
"""

from __future__ import annotations

from typing import Final

from crafter_env.constants import Achievement, Action, Item, Material, Result
from crafter_env.kernels import arrays, grid
from crafter_env.kernels.arrays import IntArray, World
from crafter_env.kernels.jit import inner
from crafter_env.kernels.luck import COLLECTS, chance
from crafter_env.kernels.outcomes import HAS_COLLECTED, is_blank, note_agents, note_item, note_target
from crafter_env.kernels.rules import (
    COLLECT_ACHIEVEMENT,
    COLLECT_PROBABILITY,
    COLLECT_TABLE,
    COLLECT_TOOL,
    COLLECTED_ITEM,
    LEFT,
    RADIUS,
    SPLIT,
    THRESHOLDS,
)
from crafter_env.profiles import CollectRule

DO: Final = int(Action.do)
COW_FOOD: Final = 6
_WATER = int(Material.water)
_FOOD, _EAT_COW = int(Item.food), int(Achievement.eat_cow)
_AREA = int(CollectRule.area)
_TOO_FEW, _MISSING_TOOL = int(Result.too_few_agents), int(Result.missing_tool)
_NOTHING_THERE, _NO_LUCK = int(Result.nothing_there), int(Result.no_luck)


@inner
def collect(w: World, rules: IntArray) -> None:
    """Resolve all `do` actions that aim at cells."""
    agents = w.agents.shape[0]
    for agent in range(agents):
        # Fix all aims before anything is collected, so that one agent's yield does not shift the aim of the next.
        if w.agents[agent, arrays.ALIVE] and w.agents[agent, arrays.CHOSEN] == DO:
            w.agents[agent, arrays.AIM] = grid.aim_of(w, rules, agent)
    for agent in range(agents):
        if not _is_collecting(w, agent):
            continue
        aim = w.agents[agent, arrays.AIM]
        if aim == grid.AREA_AIM:
            _collect_around(w, rules, agent)
        elif aim >= 0:
            x, y = aim // w.materials.shape[1], aim % w.materials.shape[1]
            # The first agent at a cell resolves it for every agent that aims at it, so each cell is resolved once.
            if _is_first_at(w, agent, x, y):
                _collect_cell(w, rules, x, y, 0)
    for agent in range(agents):
        if _is_collecting(w, agent) and is_blank(w, agent):
            _note_faced(w, agent)


@inner
def _is_collecting(w: World, agent: int) -> bool:
    return (
        w.agents[agent, arrays.ALIVE]
        and w.agents[agent, arrays.CHOSEN] == DO
        and w.agents[agent, arrays.AIM] != grid.OBJECT_AIM
    )


@inner
def _note_faced(w: World, agent: int) -> None:
    x = w.objects[agent, arrays.X] + w.agents[agent, arrays.FACING_X]
    y = w.objects[agent, arrays.Y] + w.agents[agent, arrays.FACING_Y]
    note_target(w, agent, _NOTHING_THERE, grid.material_at(w, x, y) if grid.inside(w, x, y) else 0, x, y)


@inner
def _is_first_at(w: World, agent: int, x: int, y: int) -> bool:
    for other in range(agent):
        if _aims_at(w, other, x, y, 0):
            return False
    return True


@inner
def _aims_at(w: World, agent: int, x: int, y: int, radius: int) -> bool:
    """Whether an agent's `do` counts for a cell: it aims at it or, with a radius, has the cell in its area."""
    if not _is_collecting(w, agent):
        return False
    if radius > 0:
        return grid.distance_to(w, agent, x, y) <= radius
    return w.agents[agent, arrays.AIM] == grid.cell_at(w, x, y)


@inner
def _collect_around(w: World, rules: IntArray, agent: int) -> None:
    """Resolve every task in an agent's area for which it is the first collector, nearest first."""
    radius = rules[RADIUS]
    # Rings of equal L1 distance from the inside out, each from top to bottom and left to right.
    for distance in range(1, radius + 1):
        for dy in range(-distance, distance + 1):
            dx = distance - abs(dy)
            for side in range(1 if dx == 0 else 2):
                x = w.objects[agent, arrays.X] + (dx if side else -dx)
                y = w.objects[agent, arrays.Y] + dy
                if not grid.is_target(w, x, y, _AREA):
                    continue
                first = True
                for other in range(agent):
                    first = first and not _aims_at(w, other, x, y, radius)
                if first and grid.slot_at(w, x, y) >= 0:
                    _collect_cow(w, rules, x, y)
                elif first:
                    _collect_cell(w, rules, x, y, radius)


@inner
def _collect_cell(w: World, rules: IntArray, x: int, y: int, radius: int) -> None:
    """Give the yield of a cell to its capable collectors if there are enough; write the outcome of all collectors."""
    material = grid.material_at(w, x, y)
    if COLLECT_TABLE[material, COLLECTED_ITEM] < 0:
        return
    tool, required = COLLECT_TABLE[material, COLLECT_TOOL], rules[THRESHOLDS + material]
    present = capable = 0
    for agent in range(w.agents.shape[0]):
        if _aims_at(w, agent, x, y, radius):
            present += 1
            capable += _is_capable(w, agent, tool)
    enough = capable >= required
    # Change the cell before drawing the yield: a sapling that fails (a chance of 0.1) leaves the grass unchanged.
    if enough and COLLECT_TABLE[material, LEFT] != material:
        grid.set_material(w, x, y, COLLECT_TABLE[material, LEFT])
    served = 0
    for agent in range(w.agents.shape[0]):
        if not _aims_at(w, agent, x, y, radius):
            continue
        if material == _WATER:
            w.agents[agent, arrays.THIRST] = 0
        if enough and _is_capable(w, agent, tool):
            # `Player._do_material` draws for every material, even if the probability is 1: one draw per capable
            # collector, in agent order; with keys, one per agent and cell.
            pair = agent * w.materials.size + grid.cell_at(w, x, y)
            if chance(w, rules, COLLECTS, pair) <= COLLECT_PROBABILITY[material]:
                _give_unit(w, agent, material, 1 if served == 0 or not rules[SPLIT] else 0, x, y)
                note_agents(w, agent, required, present, capable)
            elif is_blank(w, agent):
                note_target(w, agent, _NO_LUCK, material, x, y)
            served += 1
        elif is_blank(w, agent):
            if _is_capable(w, agent, tool):
                note_target(w, agent, _TOO_FEW, material, x, y)
            else:
                note_target(w, agent, _MISSING_TOOL, material, x, y)
                note_item(w, agent, _MISSING_TOOL, tool, 0)
            note_agents(w, agent, required, present, capable)


@inner
def can_collect(w: World, agent: int, x: int, y: int) -> bool:
    """Whether a cell holds something to collect for which the agent has the tool."""
    material = grid.material_at(w, x, y)
    return COLLECT_TABLE[material, COLLECTED_ITEM] >= 0 and _is_capable(w, agent, COLLECT_TABLE[material, COLLECT_TOOL])


@inner
def _is_capable(w: World, agent: int, tool: int) -> bool:
    return tool < 0 or w.agents[agent, arrays.INVENTORY + tool] > 0


@inner
def _give_unit(w: World, agent: int, material: int, amount: int, x: int, y: int) -> None:
    w.agents[agent, arrays.ACHIEVED + COLLECT_TABLE[material, COLLECT_ACHIEVEMENT]] += amount
    _give(w, agent, COLLECT_TABLE[material, COLLECTED_ITEM], amount, material, x, y)


@inner
def _give(w: World, agent: int, item: int, amount: int, target: int, x: int, y: int) -> None:
    """Put units in a bag; the outcome counts only the first kind."""
    w.agents[agent, arrays.INVENTORY + item] += amount
    w.agents[agent, arrays.GAINED + item] += amount
    if w.agents[agent, arrays.RESULT] != HAS_COLLECTED:
        note_target(w, agent, HAS_COLLECTED, target, x, y)
        note_item(w, agent, HAS_COLLECTED, item, amount)
    elif w.agents[agent, arrays.OUTCOME_ITEM] == item:
        w.agents[agent, arrays.AMOUNT] += amount


@inner
def _collect_cow(w: World, rules: IntArray, x: int, y: int) -> None:
    """Feed every agent that has the cow in its area, in one hit."""
    radius = rules[RADIUS]
    eaters = 0
    for agent in range(w.agents.shape[0]):
        eaters += _aims_at(w, agent, x, y, radius)
    served = 0
    for agent in range(w.agents.shape[0]):
        if _aims_at(w, agent, x, y, radius):
            # Whole units; the remainder goes to the lowest indices.
            left_over = served < COW_FOOD % eaters
            w.agents[agent, arrays.HUNGER] = 0
            w.agents[agent, arrays.ACHIEVED + _EAT_COW] += 1
            _give(w, agent, _FOOD, COW_FOOD // eaters + left_over if rules[SPLIT] else COW_FOOD, grid.COW, x, y)
            note_agents(w, agent, 1, eaters, eaters)
            served += 1
    grid.remove_object(w, grid.slot_at(w, x, y))

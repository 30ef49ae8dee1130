"""Kernels for action masks.

An action is masked out if, in the state before the step, the agent itself lacks something: a tool, an input, a station,
a free cell, or a need that is not full. The contribution of teammates is ignored: the number of agents acting together
and the inputs of a joint craft. So if all other agents stand still, a masked action changes nothing, and an unmasked
action either takes effect or lacks teammates or luck.
"""

from __future__ import annotations

from typing import Any, Final

from crafter_env.constants import NEED_MAX, Action, Item
from crafter_env.kernels import arrays
from crafter_env.kernels.arrays import IntArray, MaskArray, World
from crafter_env.kernels.collecting import can_collect
from crafter_env.kernels.crafting import (
    FIRST_MAKE,
    FURNACE,
    LAST_MAKE,
    SHARE,
    TABLE,
    holds_inputs,
    is_in_reach,
    needs_furnace,
    needs_table,
    stands_next_to,
    units_to_share,
)
from crafter_env.kernels.grid import AREA_AIM, OBJECT_AIM, aim_of, is_free, is_target, slot_at
from crafter_env.kernels.jit import compiled, inner
from crafter_env.kernels.living import FIRST_PLACE, LAST_PLACE, STEP_X, STEP_Y, can_act_on_faced, can_place, sleeps_on
from crafter_env.kernels.rules import PLAYER_MASK, QUORUM, RADIUS, SHARING
from crafter_env.profiles import CollectRule

ACTIONS: Final = len(Action)
_NOOP, _DO, _SLEEP = int(Action.noop), int(Action.do), int(Action.sleep)
_LAST_MOVE: Final = int(Action.move_down)
_ENERGY: Final = int(Item.energy)
_AREA = int(CollectRule.area)


@compiled
def mask_worlds(masks: MaskArray, rules: IntArray, *worlds: Any) -> None:
    """Write the masks of B worlds.

    Args:
        masks: (B, n, A); written; see `write_masks`.
        rules: See `rules.encode_rules`.
        worlds: The fields of `World`, in its order; read only.
    """
    materials, occupants, objects, agents, chunks, counters, generator = worlds
    for b in range(masks.shape[0]):
        w = World(materials[b], occupants[b], objects[b], agents[b], chunks[b], counters[b], generator[b])
        write_masks(w, rules, masks[b])


@inner
def write_masks(w: World, rules: IntArray, masks: MaskArray) -> None:
    """Write the mask of each agent; agents that are dead or sleep on can only do `noop`.

    Args:
        w: The world.
        rules: See `rules.encode_rules`.
        masks: (n, A); written. The columns are the primitives; with sharing, then the recipients, the items and the
            quantities of a share, chosen so that every allowed combination can be carried out: only items that every
            allowed recipient can take, and only recipients that can take one of these items together with all
            recipients before them. If no share is possible, all are allowed.
    """
    for agent in range(w.agents.shape[0]):
        for choice in range(masks.shape[1]):
            masks[agent, choice] = choice > SHARE
        masks[agent, _NOOP] = 1
        if w.agents[agent, arrays.ALIVE] and not sleeps_on(w, agent):
            _mask_primitives(w, rules, agent, masks)
            if rules[SHARING]:
                _mask_shares(w, rules, agent, masks)


@inner
def _mask_primitives(w: World, rules: IntArray, agent: int, masks: MaskArray) -> None:
    x, y = w.objects[agent, arrays.X], w.objects[agent, arrays.Y]
    for action in range(_NOOP + 1, _LAST_MOVE + 1):
        dx, dy = STEP_X[action], STEP_Y[action]
        turns = w.agents[agent, arrays.FACING_X] != dx or w.agents[agent, arrays.FACING_Y] != dy
        masks[agent, action] = turns or is_free(w, x + dx, y + dy, PLAYER_MASK)
    masks[agent, _DO] = _can_do(w, rules, agent)
    masks[agent, _SLEEP] = w.agents[agent, arrays.INVENTORY + _ENERGY] < NEED_MAX
    for action in range(FIRST_PLACE, LAST_PLACE + 1):
        masks[agent, action] = can_place(w, agent, action)
    table, furnace = stands_next_to(w, agent, TABLE), stands_next_to(w, agent, FURNACE)
    if table or furnace:
        for action in range(FIRST_MAKE, LAST_MAKE + 1):
            stations = (table or not needs_table(rules, action)) and (furnace or not needs_furnace(action))
            masks[agent, action] = stations and (rules[QUORUM] > 1 or holds_inputs(w, agent, action))


@inner
def _can_do(w: World, rules: IntArray, agent: int) -> bool:
    aim = aim_of(w, rules, agent)
    if aim == OBJECT_AIM:
        return can_act_on_faced(w, agent)
    if aim == AREA_AIM:
        return _can_collect_around(w, rules, agent)
    return aim >= 0 and can_collect(w, agent, aim // w.materials.shape[1], aim % w.materials.shape[1])


@inner
def _can_collect_around(w: World, rules: IntArray, agent: int) -> bool:
    radius = rules[RADIUS]
    for dy in range(-radius, radius + 1):
        for dx in range(abs(dy) - radius, radius - abs(dy) + 1):
            x, y = w.objects[agent, arrays.X] + dx, w.objects[agent, arrays.Y] + dy
            if is_target(w, x, y, _AREA) and (slot_at(w, x, y) >= 0 or can_collect(w, agent, x, y)):
                return True
    return False


@inner
def _mask_shares(w: World, rules: IntArray, agent: int, masks: MaskArray) -> None:
    recipients, items = ACTIONS, ACTIONS + w.agents.shape[0]
    for recipient in range(w.agents.shape[0]):
        if not (
            is_in_reach(w, rules, agent, recipient) and _takes_any(w, rules, agent, recipient, masks[agent, items:])
        ):
            continue
        if not masks[agent, SHARE]:
            masks[agent, SHARE] = 1
            masks[agent, recipients:items] = 0
        masks[agent, recipients + recipient] = 1
        for item in range(arrays.ITEMS):
            masks[agent, items + item] &= units_to_share(w, rules, agent, recipient, item) > 0


@inner
def _takes_any(w: World, rules: IntArray, agent: int, recipient: int, items: MaskArray) -> bool:
    """Whether a recipient can take one of the allowed items, `(ITEMS, ...)`."""
    for item in range(arrays.ITEMS):
        if items[item] and units_to_share(w, rules, agent, recipient, item) > 0:
            return True
    return False

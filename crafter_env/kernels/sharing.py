"""Sharing, as kernels: what changes hands at the beginning of a step, in the order of the agents."""

from __future__ import annotations

from typing import Final

from crafter_env.constants import NEED_MAX, NEEDS, Action, Item, Result
from crafter_env.kernels.arrays import (
    ALIVE,
    CHOSEN,
    INVENTORY,
    ITEMS,
    PRESENT,
    QUANTITY,
    RECIPIENT,
    REQUIRED,
    RESULT,
    SHARED_ITEM,
    IntArray,
    World,
    X,
    Y,
)
from crafter_env.kernels.grid import distance_to
from crafter_env.kernels.jit import inner
from crafter_env.kernels.outcomes import note_item, note_lack, note_other
from crafter_env.kernels.rules import ITEM_CAP, SHARE_RADIUS, SHARING

SHARE: Final = int(Action.share)
_HEALTH = int(Item.health)
_NEEDS = len(NEEDS)
_SHARED, _NOT_HELD, _FULL = int(Result.shared), int(Result.not_held), int(Result.recipient_full)
_DEAD, _FAR, _NOT_SHAREABLE = int(Result.recipient_dead), int(Result.recipient_far), int(Result.not_shareable)
_UNKNOWN = int(Result.unknown_recipient)


@inner
def share_items(w: World, rules: IntArray, actions: IntArray) -> None:
    """Carry out every `share`: as much as is asked for, held, and has room with the recipient; nothing is lost."""
    for agent in range(w.agents.shape[0]):
        if not w.agents[agent, ALIVE] or w.agents[agent, CHOSEN] != SHARE:
            continue
        recipient, item, quantity = actions[agent, RECIPIENT], actions[agent, SHARED_ITEM], actions[agent, QUANTITY]
        note_other(w, agent, recipient)
        if not 0 <= recipient < w.agents.shape[0]:
            w.agents[agent, RESULT] = _UNKNOWN
            w.agents[agent, PRESENT] = w.agents.shape[0]
            continue
        known = _HEALTH < item < ITEMS
        if recipient == agent or quantity < 1 or not known or not rules[SHARING]:
            note_item(w, agent, _NOT_SHAREABLE, item if 0 <= item < ITEMS else -1, quantity)
            continue
        amount = min(quantity, units_to_share(w, rules, agent, recipient, item))
        if not w.agents[recipient, ALIVE]:
            note_item(w, agent, _DEAD, item, 0)
        elif not is_in_reach(w, rules, agent, recipient):
            note_item(w, agent, _FAR, item, 0)
            w.agents[agent, REQUIRED] = rules[SHARE_RADIUS]
            w.agents[agent, PRESENT] = distance_to(w, agent, w.objects[recipient, X], w.objects[recipient, Y])
        elif w.agents[agent, INVENTORY + item] <= 0:
            note_lack(w, agent, _NOT_HELD, item, quantity, 0)
        elif amount <= 0:
            note_item(w, agent, _FULL, item, 0)
        else:
            w.agents[agent, INVENTORY + item] -= amount
            w.agents[recipient, INVENTORY + item] += amount
            note_item(w, agent, _SHARED, item, amount)


@inner
def is_in_reach(w: World, rules: IntArray, agent: int, recipient: int) -> bool:
    """Whether a share of an agent reaches a recipient: another one, which lives and is near enough."""
    if recipient == agent or not w.agents[recipient, ALIVE]:
        return False
    return distance_to(w, agent, w.objects[recipient, X], w.objects[recipient, Y]) <= rules[SHARE_RADIUS]


@inner
def units_to_share(w: World, rules: IntArray, agent: int, recipient: int, item: int) -> int:
    """Units of an item that can change hands: those held, as far as they find room; none of health."""
    if item == _HEALTH:
        return 0
    room = (NEED_MAX if item < _NEEDS else rules[ITEM_CAP]) - w.agents[recipient, INVENTORY + item]
    return min(w.agents[agent, INVENTORY + item], room)

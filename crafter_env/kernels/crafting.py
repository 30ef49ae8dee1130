"""Kernels for making tools, alone and together, and for sharing.

Source: EmCoop (arXiv 2603.00349), MA-Crafter; Crafter 1.8.3, `objects.py`, `Player._make`; docs/crafter.md, profiles.

With a quorum of 1, each agent makes from its own bag, as in Crafter. With a larger quorum, agents that issue the same
`make` in a step around one table make together. If enough agents are there, the inputs come from the bag of the leader,
the participant of the lowest index that holds them all, and every participant gets the item.

Shares are carried out at the start of a step, in agent order.
"""

from __future__ import annotations

from typing import Final

from crafter_env.constants import NEED_MAX, NEEDS, Action, Item, Material, Result
from crafter_env.kernels import arrays
from crafter_env.kernels.arrays import IntArray, World
from crafter_env.kernels.grid import distance_to, inside, material_at
from crafter_env.kernels.jit import inlined, inner
from crafter_env.kernels.outcomes import is_blank, note_agents, note_item, note_lack, note_other, note_target
from crafter_env.kernels.rules import (
    CRAFT_RADIUS,
    INPUTS,
    IRON_NEEDS_TABLE,
    ITEM_CAP,
    MADE,
    MAKE_ACHIEVEMENT,
    MAKE_TABLE,
    MAX_INPUTS,
    NEEDS_FURNACE,
    QUORUM,
    SHARE_RADIUS,
    SHARING,
)

FIRST_MAKE: Final = int(Action.make_wood_pickaxe)
LAST_MAKE: Final = int(Action.make_iron_sword)
TABLE: Final = int(Material.table)
FURNACE: Final = int(Material.furnace)
_CRAFTED, _NO_STATION = int(Result.crafted), int(Result.no_station)
_MISSING_INPUT, _TOO_FEW = int(Result.missing_input), int(Result.too_few_agents)
NOWHERE: Final = -1
_WAITING, _DONE = 0, 1
"""Values of `AIM` while the crafts of a step are resolved."""


@inner
def craft(w: World, rules: IntArray) -> None:
    """Resolve all `make` actions of a step."""
    agents = w.agents.shape[0]
    for agent in range(agents):
        # `AIM` still holds marks of the last step; every maker starts this step as waiting.
        if _is_making(w, agent):
            w.agents[agent, arrays.AIM] = _WAITING
    for agent in range(agents):
        if not _is_making(w, agent) or w.agents[agent, arrays.AIM] == _DONE:
            continue
        station = _missing_station(w, rules, agent)
        if station >= 0:
            if is_blank(w, agent):
                note_target(w, agent, _NO_STATION, station, NOWHERE, NOWHERE)
        # The first agent of a group resolves it for all; the others are marked as done and skipped.
        elif rules[QUORUM] > 1:
            _make_together(w, rules, agent)
        elif holds_inputs(w, agent, w.agents[agent, arrays.CHOSEN]):
            _use_inputs(w, agent)
            _get(w, agent, agent)
        else:
            _note_missing_input(w, agent)


@inner
def _is_making(w: World, agent: int) -> bool:
    return w.agents[agent, arrays.ALIVE] and FIRST_MAKE <= w.agents[agent, arrays.CHOSEN] <= LAST_MAKE


@inlined
def needs_table(rules: IntArray, action: int) -> bool:
    """Whether a `make` needs a table next to the agent."""
    return MAKE_TABLE[action, NEEDS_FURNACE] == 0 or rules[IRON_NEEDS_TABLE] != 0


@inlined
def needs_furnace(action: int) -> bool:
    """Whether a `make` needs a furnace next to the agent."""
    return MAKE_TABLE[action, NEEDS_FURNACE] != 0


@inner
def _missing_station(w: World, rules: IntArray, agent: int) -> int:
    """Return the station that an agent lacks for its `make`, or -1."""
    action = w.agents[agent, arrays.CHOSEN]
    if needs_table(rules, action) and not stands_next_to(w, agent, TABLE):
        return TABLE
    return FURNACE if needs_furnace(action) and not stands_next_to(w, agent, FURNACE) else -1


@inner
def stands_next_to(w: World, agent: int, station: int) -> bool:
    """Whether a station is in the 3 x 3 cells around an agent.

    As in Crafter, whose lookup slices the map from -1 there, an agent on the left or top edge finds none.
    """
    return _station_next_to(w, w.objects[agent, arrays.X], w.objects[agent, arrays.Y], station)[0] >= 0


@inner
def _station_next_to(w: World, x: int, y: int, station: int) -> tuple[int, int]:
    """Return the first station cell in the 3 x 3 cells around a cell, row by row; (-1, -1) if there is none."""
    # `World.nearby` slices from x - 1; at 0 that is -1, and NumPy then returns an empty area. Kept, because a world
    # must reproduce Crafter's.
    if x > 0 and y > 0:
        for j in range(y - 1, y + 2):
            for i in range(x - 1, x + 2):
                if inside(w, i, j) and material_at(w, i, j) == station:
                    return i, j
    return -1, -1


@inner
def holds_inputs(w: World, agent: int, action: int) -> bool:
    """Whether a bag has all inputs of a `make`."""
    return _missing_pair(w, agent, action) < 0


@inner
def _missing_pair(w: World, agent: int, action: int) -> int:
    """Return the column of the first input of a recipe that a bag has too little of, or -1."""
    for pair in range(MAX_INPUTS):
        column = INPUTS + 2 * pair
        if w.agents[agent, arrays.INVENTORY + MAKE_TABLE[action, column]] < MAKE_TABLE[action, column + 1]:
            return column
    return -1


@inner
def _note_missing_input(w: World, agent: int) -> None:
    action = w.agents[agent, arrays.CHOSEN]
    column = _missing_pair(w, agent, action)
    item, amount = MAKE_TABLE[action, column], MAKE_TABLE[action, column + 1]
    note_lack(w, agent, _MISSING_INPUT, item, amount, w.agents[agent, arrays.INVENTORY + item])


@inner
def _use_inputs(w: World, leader: int) -> None:
    action = w.agents[leader, arrays.CHOSEN]
    for pair in range(MAX_INPUTS):
        column = INPUTS + 2 * pair
        w.agents[leader, arrays.INVENTORY + MAKE_TABLE[action, column]] -= MAKE_TABLE[action, column + 1]


@inner
def _get(w: World, agent: int, leader: int) -> None:
    action = w.agents[agent, arrays.CHOSEN]
    w.agents[agent, arrays.INVENTORY + MAKE_TABLE[action, MADE]] += 1
    w.agents[agent, arrays.ACHIEVED + MAKE_TABLE[action, MAKE_ACHIEVEMENT]] += 1
    note_item(w, agent, _CRAFTED, MAKE_TABLE[action, MADE], 1)
    note_other(w, agent, leader)


@inner
def _make_together(w: World, rules: IntArray, anchor: int) -> None:
    """Try the joint craft around the table (or the furnace, if no table is needed) next to an agent."""
    action, quorum = w.agents[anchor, arrays.CHOSEN], rules[QUORUM]
    station = TABLE if needs_table(rules, action) else FURNACE
    x, y = _station_next_to(w, w.objects[anchor, arrays.X], w.objects[anchor, arrays.Y], station)
    # Two passes, because the participants must be known before anything is used or given.
    present, leader = 0, -1
    for agent in range(w.agents.shape[0]):
        if _takes_part(w, rules, agent, action, x, y):
            present += 1
            if leader < 0 and holds_inputs(w, agent, action):
                leader = agent
    # The leader pays once for the whole group; see the source in the module docstring.
    if present >= quorum and leader >= 0:
        _use_inputs(w, leader)
    for agent in range(w.agents.shape[0]):
        if not _takes_part(w, rules, agent, action, x, y):
            continue
        if present < quorum:
            note_target(w, agent, _TOO_FEW, station, x, y)
            note_item(w, agent, _TOO_FEW, MAKE_TABLE[action, MADE], 0)
            note_agents(w, agent, quorum, present, present)
        elif leader < 0:
            _note_missing_input(w, agent)
        else:
            _get(w, agent, leader)
            note_agents(w, agent, quorum, present, present)
            w.agents[agent, arrays.AIM] = _DONE


@inner
def _takes_part(w: World, rules: IntArray, agent: int, action: int, x: int, y: int) -> bool:
    """Whether an agent makes the same item, still waits, and is near enough to the 3 x 3 cells around a station."""
    if not _is_making(w, agent) or w.agents[agent, arrays.CHOSEN] != action or w.agents[agent, arrays.AIM] == _DONE:
        return False
    beyond_x = max(abs(w.objects[agent, arrays.X] - x) - 1, 0)
    beyond_y = max(abs(w.objects[agent, arrays.Y] - y) - 1, 0)
    return beyond_x + beyond_y <= rules[CRAFT_RADIUS]


SHARE: Final = int(Action.share)
_HEALTH = int(Item.health)
_NEEDS = len(NEEDS)
_SHARED, _NOT_HELD, _FULL = int(Result.shared), int(Result.not_held), int(Result.recipient_full)
_DEAD, _FAR, _NOT_SHAREABLE = int(Result.recipient_dead), int(Result.recipient_far), int(Result.not_shareable)
_UNKNOWN = int(Result.unknown_recipient)


@inner
def share_items(w: World, rules: IntArray, actions: IntArray) -> None:
    """Carry out every `share`: the amount requested, up to the giver's stock and the recipient's room."""
    for agent in range(w.agents.shape[0]):
        if not w.agents[agent, arrays.ALIVE] or w.agents[agent, arrays.CHOSEN] != SHARE:
            continue
        # In agent order, each against the current bags, so units received can be passed on in the same step.
        recipient = actions[agent, arrays.RECIPIENT]
        item, quantity = actions[agent, arrays.SHARED_ITEM], actions[agent, arrays.QUANTITY]
        note_other(w, agent, recipient)
        # Each refusal has its own result; errors in the action itself come before those of the moment.
        if not 0 <= recipient < w.agents.shape[0]:
            w.agents[agent, arrays.RESULT] = _UNKNOWN
            w.agents[agent, arrays.PRESENT] = w.agents.shape[0]
            continue
        known = _HEALTH < item < arrays.ITEMS
        if recipient == agent or quantity < 1 or not known or not rules[SHARING]:
            note_item(w, agent, _NOT_SHAREABLE, item if 0 <= item < arrays.ITEMS else -1, quantity)
            continue
        amount = min(quantity, units_to_share(w, rules, agent, recipient, item))
        if not w.agents[recipient, arrays.ALIVE]:
            note_item(w, agent, _DEAD, item, 0)
        elif not is_in_reach(w, rules, agent, recipient):
            note_item(w, agent, _FAR, item, 0)
            w.agents[agent, arrays.REQUIRED] = rules[SHARE_RADIUS]
            w.agents[agent, arrays.PRESENT] = distance_to(
                w, agent, w.objects[recipient, arrays.X], w.objects[recipient, arrays.Y]
            )
        elif w.agents[agent, arrays.INVENTORY + item] <= 0:
            note_lack(w, agent, _NOT_HELD, item, quantity, 0)
        elif amount <= 0:
            note_item(w, agent, _FULL, item, 0)
        else:
            w.agents[agent, arrays.INVENTORY + item] -= amount
            w.agents[recipient, arrays.INVENTORY + item] += amount
            note_item(w, agent, _SHARED, item, amount)


@inner
def is_in_reach(w: World, rules: IntArray, agent: int, recipient: int) -> bool:
    """Whether a share reaches its recipient: another agent that is alive and near enough."""
    if recipient == agent or not w.agents[recipient, arrays.ALIVE]:
        return False
    return distance_to(w, agent, w.objects[recipient, arrays.X], w.objects[recipient, arrays.Y]) <= rules[SHARE_RADIUS]


@inner
def units_to_share(w: World, rules: IntArray, agent: int, recipient: int, item: int) -> int:
    """Units of an item that can be shared: those held, up to the recipient's room; health cannot be shared."""
    if item == _HEALTH:
        return 0
    room = (NEED_MAX if item < _NEEDS else rules[ITEM_CAP]) - w.agents[recipient, arrays.INVENTORY + item]
    return min(w.agents[agent, arrays.INVENTORY + item], room)

"""Kernels of an agent's own update: waking, walking, placing, fighting, and its needs.

Source: Crafter 1.8.3, `objects.py`, `Player`.

Joint actions (`share`, `do` at cells, `make`) are resolved before all updates.
"""

from __future__ import annotations

from typing import Final

from crafter_env.constants import DISPLACEMENT, NEED_MAX, NEEDS, Achievement, Action, Entity, Item, Material, Result
from crafter_env.kernels import arrays
from crafter_env.kernels.arrays import IntArray, World
from crafter_env.kernels.collecting import COW_FOOD, DO
from crafter_env.kernels.grid import (
    COW,
    OBJECT_AIM,
    SKELETON,
    add_object,
    inside,
    is_free,
    material_at,
    move_object,
    set_material,
    slot_at,
)
from crafter_env.kernels.jit import inlined, inner
from crafter_env.kernels.outcomes import begin_outcome, note_item, note_lack, note_target
from crafter_env.kernels.rules import (
    ITEM_CAP,
    PLACE_ACHIEVEMENT,
    PLACE_TABLE,
    PLACED_AMOUNT,
    PLACED_ITEM,
    PLACED_WHERE,
    PLAYER_MASK,
    PUT,
)

RIPE_AGE: Final = 300
"""Updates after which a plant is ripe."""
PLANT_FOOD: Final = 4
STEP_X = tuple(DISPLACEMENT[action][0] if action in DISPLACEMENT else 0 for action in Action)
STEP_Y = tuple(DISPLACEMENT[action][1] if action in DISPLACEMENT else 0 for action in Action)
_NOOP, _SLEEP = int(Action.noop), int(Action.sleep)
_MOVES_END: Final = int(Action.move_down)
FIRST_PLACE: Final = int(Action.place_stone)
LAST_PLACE: Final = int(Action.place_plant)
_HEALTH, _FOOD, _DRINK, _ENERGY = int(Item.health), int(Item.food), int(Item.drink), int(Item.energy)
_WOOD_SWORD, _STONE_SWORD, _IRON_SWORD = int(Item.wood_sword), int(Item.stone_sword), int(Item.iron_sword)
_LAVA = int(Material.lava)
_ZOMBIE, _PLANT = int(Entity.zombie), int(Entity.plant)
_NEEDS = len(NEEDS)
_WAKE_UP, _EAT_COW, _EAT_PLANT = int(Achievement.wake_up), int(Achievement.eat_cow), int(Achievement.eat_plant)
_DEFEAT_ZOMBIE, _DEFEAT_SKELETON = int(Achievement.defeat_zombie), int(Achievement.defeat_skeleton)
_NOTHING, _MOVED, _BLOCKED = int(Result.nothing), int(Result.moved), int(Result.blocked)
_NOTHING_THERE, _HIT, _DEFEATED = int(Result.nothing_there), int(Result.hit), int(Result.defeated)
_ATE, _NOT_RIPE, _PLACED, _NO_PLACE = int(Result.ate), int(Result.not_ripe), int(Result.placed), int(Result.no_place)
_MISSING_INPUT, _ASLEEP = int(Result.missing_input), int(Result.asleep)
_NOT_TIRED, _DEAD = int(Result.not_tired), int(Result.dead)


@inner
def choose_actions(w: World, actions: IntArray) -> None:
    """Write the action of each agent; sleepers continue to sleep until their energy is full."""
    for agent in range(w.agents.shape[0]):
        action = actions[agent, arrays.ACTION]
        if not w.agents[agent, arrays.ALIVE]:
            begin_outcome(w, agent, _NOOP, _DEAD)
            continue
        # `Player.update`: a sleeper sleeps on, whatever its action; waking up with full energy is an achievement.
        if sleeps_on(w, agent):
            action = _SLEEP
        elif w.agents[agent, arrays.SLEEPING]:
            w.agents[agent, arrays.SLEEPING] = 0
            w.agents[agent, arrays.ACHIEVED + _WAKE_UP] += 1
        w.agents[agent, arrays.CHOSEN] = action
        begin_outcome(w, agent, action, _NOTHING)


@inlined
def sleeps_on(w: World, agent: int) -> bool:
    """Whether an agent sleeps and will not wake up at its next step, whatever its action."""
    return w.agents[agent, arrays.SLEEPING] != 0 and w.agents[agent, arrays.INVENTORY + _ENERGY] < NEED_MAX


@inner
def update_player(w: World, rules: IntArray, agent: int) -> None:
    """Act, update the needs, and wake up if hurt."""
    action = w.agents[agent, arrays.CHOSEN]
    # Acting comes before needs, as in `Player.update`.
    if _NOOP < action <= _MOVES_END:
        _walk(w, agent, action)
    elif action == DO and w.agents[agent, arrays.AIM] == OBJECT_AIM:
        _act_on_faced(w, agent)
    elif action == _SLEEP:
        if w.agents[agent, arrays.INVENTORY + _ENERGY] < NEED_MAX:
            w.agents[agent, arrays.SLEEPING] = 1
            w.agents[agent, arrays.RESULT] = _ASLEEP
        else:
            w.agents[agent, arrays.RESULT] = _NOT_TIRED
    elif FIRST_PLACE <= action <= LAST_PLACE:
        _place(w, agent, action)
    _live(w, agent)
    # Bags are cut to their limits once, after needs: food above 9 still offsets the hunger of this step.
    for item in range(arrays.ITEMS):
        largest = NEED_MAX if item < _NEEDS else rules[ITEM_CAP]
        w.agents[agent, arrays.INVENTORY + item] = max(0, min(w.agents[agent, arrays.INVENTORY + item], largest))
    # `Player._wake_up_when_hurt`: damage since the last update, including monsters that moved after this agent.
    if w.agents[agent, arrays.INVENTORY + _HEALTH] < w.agents[agent, arrays.LAST_HEALTH]:
        w.agents[agent, arrays.SLEEPING] = 0
    w.agents[agent, arrays.LAST_HEALTH] = w.agents[agent, arrays.INVENTORY + _HEALTH]


@inner
def harm(w: World, slot: int, damage: int) -> None:
    """Reduce the health of an object or an agent, to at least 0."""
    if slot < w.agents.shape[0]:
        w.agents[slot, arrays.INVENTORY + _HEALTH] = max(0, w.agents[slot, arrays.INVENTORY + _HEALTH] - damage)
    else:
        w.objects[slot, arrays.HEALTH] = max(0, w.objects[slot, arrays.HEALTH] - damage)


@inner
def _walk(w: World, agent: int, action: int) -> None:
    dx, dy = STEP_X[action], STEP_Y[action]
    w.agents[agent, arrays.FACING_X], w.agents[agent, arrays.FACING_Y] = dx, dy
    x, y = w.objects[agent, arrays.X] + dx, w.objects[agent, arrays.Y] + dy
    if is_free(w, x, y, PLAYER_MASK):
        move_object(w, agent, x, y)
        note_target(w, agent, _MOVED, material_at(w, x, y), x, y)
    else:
        note_target(w, agent, _BLOCKED, _what_stands_at(w, x, y), x, y)
    # Agents can walk into lava, which kills them (`Player._move`).
    if material_at(w, w.objects[agent, arrays.X], w.objects[agent, arrays.Y]) == _LAVA:
        w.agents[agent, arrays.INVENTORY + _HEALTH] = 0


@inner
def _what_stands_at(w: World, x: int, y: int) -> int:
    """Return the entity on a cell, else its material, 0 off the map."""
    if not inside(w, x, y):
        return 0
    slot = slot_at(w, x, y)
    return w.objects[slot, arrays.KIND] if slot >= 0 else material_at(w, x, y)


@inner
def _act_on_faced(w: World, agent: int) -> None:
    x = w.objects[agent, arrays.X] + w.agents[agent, arrays.FACING_X]
    y = w.objects[agent, arrays.Y] + w.agents[agent, arrays.FACING_Y]
    slot = slot_at(w, x, y)
    kind = w.objects[slot, arrays.KIND] if slot >= 0 else 0
    note_target(w, agent, _NOTHING_THERE, _what_stands_at(w, x, y), x, y)
    if kind == _PLANT:
        if w.objects[slot, arrays.TIMER] > RIPE_AGE:
            w.objects[slot, arrays.TIMER] = 0
            _eat(w, agent, PLANT_FOOD, _EAT_PLANT)
        else:
            w.agents[agent, arrays.RESULT] = _NOT_RIPE
    elif COW <= kind <= SKELETON:
        # Damage applies at once, but the creature leaves the map only at its own update: it may still hit back.
        damage = _damage(w, agent)
        harm(w, slot, damage)
        note_item(w, agent, _HIT, -1, damage)
        if w.objects[slot, arrays.HEALTH] <= 0:
            if kind == COW:
                w.agents[agent, arrays.HUNGER] = 0
                _eat(w, agent, COW_FOOD, _EAT_COW)
            else:
                w.agents[agent, arrays.ACHIEVED + (_DEFEAT_ZOMBIE if kind == _ZOMBIE else _DEFEAT_SKELETON)] += 1
                w.agents[agent, arrays.RESULT] = _DEFEATED


@inner
def can_act_on_faced(w: World, agent: int) -> bool:
    """Whether a `do` at the faced object has an effect: creatures can be hit, ripe plants eaten."""
    x = w.objects[agent, arrays.X] + w.agents[agent, arrays.FACING_X]
    y = w.objects[agent, arrays.Y] + w.agents[agent, arrays.FACING_Y]
    slot = slot_at(w, x, y)
    if slot < 0:
        return False
    kind = w.objects[slot, arrays.KIND]
    return COW <= kind <= SKELETON or (kind == _PLANT and w.objects[slot, arrays.TIMER] > RIPE_AGE)


@inner
def _eat(w: World, agent: int, food: int, achievement: int) -> None:
    w.agents[agent, arrays.INVENTORY + _FOOD] += food
    w.agents[agent, arrays.GAINED + _FOOD] += food
    w.agents[agent, arrays.ACHIEVED + achievement] += 1
    note_item(w, agent, _ATE, _FOOD, food)


@inner
def _damage(w: World, agent: int) -> int:
    # Damage 1, 2, 3, 5 for bare hands, wood, stone and iron: `Player._do_object`.
    if w.agents[agent, arrays.INVENTORY + _IRON_SWORD]:
        return 5
    if w.agents[agent, arrays.INVENTORY + _STONE_SWORD]:
        return 3
    return 2 if w.agents[agent, arrays.INVENTORY + _WOOD_SWORD] else 1


@inner
def can_place(w: World, agent: int, action: int) -> bool:
    """Whether an agent holds the inputs of a `place`, and the faced cell supports the object."""
    x = w.objects[agent, arrays.X] + w.agents[agent, arrays.FACING_X]
    y = w.objects[agent, arrays.Y] + w.agents[agent, arrays.FACING_Y]
    held = w.agents[agent, arrays.INVENTORY + PLACE_TABLE[action, PLACED_ITEM]]
    return held >= PLACE_TABLE[action, PLACED_AMOUNT] and is_free(w, x, y, PLACE_TABLE[action, PLACED_WHERE])


@inner
def _place(w: World, agent: int, action: int) -> None:
    x = w.objects[agent, arrays.X] + w.agents[agent, arrays.FACING_X]
    y = w.objects[agent, arrays.Y] + w.agents[agent, arrays.FACING_Y]
    item, amount = PLACE_TABLE[action, PLACED_ITEM], PLACE_TABLE[action, PLACED_AMOUNT]
    if not is_free(w, x, y, PLACE_TABLE[action, PLACED_WHERE]):
        note_target(w, agent, _NO_PLACE, _what_stands_at(w, x, y), x, y)
    elif w.agents[agent, arrays.INVENTORY + item] < amount:
        note_lack(w, agent, _MISSING_INPUT, item, amount, w.agents[agent, arrays.INVENTORY + item])
    else:
        put = PLACE_TABLE[action, PUT]
        w.agents[agent, arrays.INVENTORY + item] -= amount
        w.agents[agent, arrays.ACHIEVED + PLACE_TABLE[action, PLACE_ACHIEVEMENT]] += 1
        if put == _PLANT:
            add_object(w, put, x, y, 1)
        else:
            set_material(w, x, y, put)
        note_target(w, agent, _PLACED, put, x, y)


@inner
def _live(w: World, agent: int) -> None:
    """Update hunger, thirst, fatigue, then harm or recovery; the first two and harm grow half as fast in sleep."""
    # Crafter counts hunger, thirst and recovery in halves of a step. Here all of them count half-steps as integers; the
    # limits below are doubled, and nothing is lost to rounding.
    asleep = w.agents[agent, arrays.SLEEPING] != 0
    pace = 1 if asleep else 2
    _wear(w, agent, arrays.HUNGER, pace, 25, _FOOD)
    _wear(w, agent, arrays.THIRST, pace, 20, _DRINK)
    # Fatigue counts whole steps: 30 awake cost a unit of energy, 10 asleep restore one.
    fatigue = min(w.agents[agent, arrays.FATIGUE] - 1, 0) if asleep else w.agents[agent, arrays.FATIGUE] + 1
    if fatigue < -10:
        fatigue = 0
        w.agents[agent, arrays.INVENTORY + _ENERGY] += 1
    if fatigue > 30:
        fatigue = 0
        w.agents[agent, arrays.INVENTORY + _ENERGY] -= 1
    w.agents[agent, arrays.FATIGUE] = fatigue
    well = w.agents[agent, arrays.INVENTORY + _FOOD] > 0 and w.agents[agent, arrays.INVENTORY + _DRINK] > 0
    well = well and (w.agents[agent, arrays.INVENTORY + _ENERGY] > 0 or asleep)
    recover = w.agents[agent, arrays.RECOVER] + (2 * (3 - pace) if well else -pace)
    # More than 25 steps of well-being restore a unit of health, more than 15 of want cost one
    # (`Player._degen_or_regen_health`).
    if recover > 2 * 25:
        recover = 0
        w.agents[agent, arrays.INVENTORY + _HEALTH] += 1
    if recover < -2 * 15:
        recover = 0
        w.agents[agent, arrays.INVENTORY + _HEALTH] = max(0, w.agents[agent, arrays.INVENTORY + _HEALTH] - 1)
    w.agents[agent, arrays.RECOVER] = recover


@inner
def _wear(w: World, agent: int, counter: int, pace: int, limit: int, need: int) -> None:
    w.agents[agent, counter] += pace
    if w.agents[agent, counter] > 2 * limit:
        w.agents[agent, counter] = 0
        w.agents[agent, arrays.INVENTORY + need] -= 1

"""Cows, zombies, skeletons, arrows and plants, as kernels. Source: Crafter 1.8.3, `objects.py`.

A dying creature leaves the map at the beginning of its update, and goes on with the rest of it: it still draws from the
generator, and a zombie may still hit.
"""

from __future__ import annotations

from typing import Final

from crafter_env.constants import Entity
from crafter_env.kernels.arrays import (
    DIRECTION_X,
    DIRECTION_Y,
    HEALTH,
    KIND,
    SLEEPING,
    TIMER,
    World,
    X,
    Y,
)
from crafter_env.kernels.grid import (
    COW,
    NOBODY,
    PATH_ID,
    SKELETON,
    add_object,
    distance_to,
    inside,
    is_free,
    material_at,
    move_object,
    nearest_agent,
    remove_object,
    set_material,
    slot_at,
)
from crafter_env.kernels.jit import inlined, inner
from crafter_env.kernels.living import harm
from crafter_env.kernels.mt19937 import below, uniform
from crafter_env.kernels.rules import ARROW_MASK, STATION_MASK, WALKABLE_MASK

ARROW: Final = int(Entity.arrow)
_ZOMBIE: Final = int(Entity.zombie)
_PLANT: Final = int(Entity.plant)
_SIGHT: Final = 8
_HIT, _HIT_ASLEEP, _ARROW_HIT = 2, 7, 2
_COOLDOWN, _RELOAD = 5, 4
_RANDOM_X, _RANDOM_Y = (-1, 1, 0, 0), (0, 0, -1, 1)


@inner
def update_creature(w: World, slot: int) -> None:
    """One step of an object that is not an agent."""
    kind = w.objects[slot, KIND]
    if kind == COW:
        _update_cow(w, slot)
    elif kind == _ZOMBIE:
        _update_zombie(w, slot)
    elif kind == SKELETON:
        _update_skeleton(w, slot)
    elif kind == ARROW:
        _update_arrow(w, slot)
    elif kind == _PLANT:
        _update_plant(w, slot)


@inlined
def _leave_if_dead(w: World, slot: int) -> None:
    if w.objects[slot, HEALTH] <= 0:
        remove_object(w, slot)


@inlined
def _step(w: World, slot: int, dx: int, dy: int) -> bool:
    """Move by one cell if that is free."""
    x, y = w.objects[slot, X] + dx, w.objects[slot, Y] + dy
    if not is_free(w, x, y, WALKABLE_MASK):
        return False
    move_object(w, slot, x, y)
    return True


@inlined
def _step_anywhere(w: World, slot: int) -> None:
    direction = below(w.generator, 4)
    _step(w, slot, _RANDOM_X[direction], _RANDOM_Y[direction])


@inlined
def _towards(w: World, slot: int, agent: int, long_axis: bool) -> tuple[int, int]:
    """One step along the longer axis to an agent, or along the shorter one; it may be no step at all."""
    dx, dy = w.objects[agent, X] - w.objects[slot, X], w.objects[agent, Y] - w.objects[slot, Y]
    if abs(dx) > abs(dy) if long_axis else abs(dx) <= abs(dy):
        return int(dx > 0) - int(dx < 0), 0
    return 0, int(dy > 0) - int(dy < 0)


@inlined
def _update_cow(w: World, slot: int) -> None:
    _leave_if_dead(w, slot)
    if uniform(w.generator) < 0.5:
        _step_anywhere(w, slot)


@inlined
def _update_zombie(w: World, slot: int) -> None:
    _leave_if_dead(w, slot)
    agent = nearest_agent(w, w.objects[slot, X], w.objects[slot, Y])
    distance = _distance(w, slot, agent)
    if distance <= _SIGHT and uniform(w.generator) < 0.9:
        dx, dy = _towards(w, slot, agent, uniform(w.generator) < 0.8)
        _step(w, slot, dx, dy)
    else:
        _step_anywhere(w, slot)
    agent = nearest_agent(w, w.objects[slot, X], w.objects[slot, Y])
    if _distance(w, slot, agent) <= 1:
        if w.objects[slot, TIMER] > 0:
            w.objects[slot, TIMER] -= 1
        else:
            harm(w, agent, _HIT_ASLEEP if w.agents[agent, SLEEPING] else _HIT)
            w.objects[slot, TIMER] = _COOLDOWN


@inlined
def _distance(w: World, slot: int, agent: int) -> int:
    return NOBODY if agent < 0 else distance_to(w, agent, w.objects[slot, X], w.objects[slot, Y])


@inlined
def _update_skeleton(w: World, slot: int) -> None:
    _leave_if_dead(w, slot)
    w.objects[slot, TIMER] = max(0, w.objects[slot, TIMER] - 1)
    agent = nearest_agent(w, w.objects[slot, X], w.objects[slot, Y])
    distance = _distance(w, slot, agent)
    if distance <= 3:
        dx, dy = _towards(w, slot, agent, uniform(w.generator) < 0.6)
        if _step(w, slot, -dx, -dy):
            return
    if distance <= 5 and uniform(w.generator) < 0.5:
        dx, dy = _towards(w, slot, agent, True)
        _shoot(w, slot, dx, dy)
    elif distance <= _SIGHT and uniform(w.generator) < 0.3:
        dx, dy = _towards(w, slot, agent, uniform(w.generator) < 0.6)
        _step(w, slot, dx, dy)
    elif uniform(w.generator) < 0.2:
        _step_anywhere(w, slot)


@inner
def _shoot(w: World, slot: int, dx: int, dy: int) -> None:
    x, y = w.objects[slot, X] + dx, w.objects[slot, Y] + dy
    if w.objects[slot, TIMER] == 0 and (dx != 0 or dy != 0) and is_free(w, x, y, ARROW_MASK):
        arrow = add_object(w, ARROW, x, y, 0)
        w.objects[arrow, DIRECTION_X] = dx
        w.objects[arrow, DIRECTION_Y] = dy
        w.objects[slot, TIMER] = _RELOAD


@inlined
def _update_arrow(w: World, slot: int) -> None:
    x = w.objects[slot, X] + w.objects[slot, DIRECTION_X]
    y = w.objects[slot, Y] + w.objects[slot, DIRECTION_Y]
    if is_free(w, x, y, ARROW_MASK):
        move_object(w, slot, x, y)
        return
    if inside(w, x, y):
        if slot_at(w, x, y) >= 0:
            harm(w, slot_at(w, x, y), _ARROW_HIT)
        elif (STATION_MASK >> material_at(w, x, y)) & 1:
            set_material(w, x, y, PATH_ID)
    remove_object(w, slot)


@inlined
def _update_plant(w: World, slot: int) -> None:
    w.objects[slot, TIMER] += 1
    for side in range(4):
        x, y = w.objects[slot, X] + _RANDOM_X[side], w.objects[slot, Y] + _RANDOM_Y[side]
        if inside(w, x, y) and slot_at(w, x, y) >= 0:
            kind = w.objects[slot_at(w, x, y), KIND]
            if COW <= kind <= SKELETON:
                harm(w, slot, 1)
                break
    _leave_if_dead(w, slot)

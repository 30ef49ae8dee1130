"""Kernels for cows, zombies, skeletons, arrows and plants, and for spawning. Source: Crafter 1.8.3, `objects.py`.

A dying creature leaves the map at the start of its update but finishes the rest of it: it still draws from the
generator, and a zombie may still hit.

Spawning and despawning, chunk by chunk: Crafter 1.8.3, `Env._balance_chunk`.
"""

from __future__ import annotations

from typing import Final

from crafter_env.constants import CHUNK, Entity
from crafter_env.kernels import arrays, grid, luck
from crafter_env.kernels.arrays import IntArray, World
from crafter_env.kernels.generation import COW_HEALTH, SKELETON_HEALTH, ZOMBIE_HEALTH
from crafter_env.kernels.jit import inlined, inner
from crafter_env.kernels.living import harm
from crafter_env.kernels.mt19937 import below
from crafter_env.kernels.rules import ARROW_MASK, MOBS, STATION_MASK, WALKABLE_MASK

ARROW: Final = int(Entity.arrow)
_ZOMBIE: Final = int(Entity.zombie)
_PLANT: Final = int(Entity.plant)
_SIGHT: Final = 8
# Units of health, then steps; `_SIGHT` is in cells of L1 distance, Crafter's measure for creatures.
_HIT, _HIT_ASLEEP, _ARROW_HIT = 2, 7, 2
_COOLDOWN, _RELOAD = 5, 4
_RANDOM_X, _RANDOM_Y = (-1, 1, 0, 0), (0, 0, -1, 1)


@inner
def update_creature(w: World, rules: IntArray, slot: int) -> None:
    """Update an object that is not an agent by one step."""
    # The order of the branches is arbitrary: an object has one kind, and no test draws from the generator.
    kind = w.objects[slot, arrays.KIND]
    if kind == grid.COW:
        _update_cow(w, rules, slot)
    elif kind == _ZOMBIE:
        _update_zombie(w, rules, slot)
    elif kind == grid.SKELETON:
        _update_skeleton(w, rules, slot)
    elif kind == ARROW:
        _update_arrow(w, slot)
    elif kind == _PLANT:
        _update_plant(w, slot)


@inlined
def _leave_if_dead(w: World, slot: int) -> None:
    if w.objects[slot, arrays.HEALTH] <= 0:
        grid.remove_object(w, slot)


@inlined
def _step(w: World, slot: int, dx: int, dy: int) -> bool:
    """Move by one cell if the target is free."""
    x, y = w.objects[slot, arrays.X] + dx, w.objects[slot, arrays.Y] + dy
    if not grid.is_free(w, x, y, WALKABLE_MASK):
        return False
    grid.move_object(w, slot, x, y)
    return True


@inlined
def _chance(w: World, rules: IntArray, slot: int, purpose: int) -> float:
    return luck.chance(w, rules, purpose, w.objects[slot, arrays.IDENTITY])


@inlined
def _step_anywhere(w: World, rules: IntArray, slot: int) -> None:
    # Crafter draws the direction as an index into its list of four, so exactly one `randint`.
    direction = luck.choice(w, rules, luck.DIRECTION, w.objects[slot, arrays.IDENTITY], 4)
    _step(w, slot, _RANDOM_X[direction], _RANDOM_Y[direction])


@inlined
def _towards(w: World, slot: int, agent: int, long_axis: bool) -> tuple[int, int]:
    """Return one step towards an agent along the longer or the shorter axis; it may be no step at all."""
    dx = w.objects[agent, arrays.X] - w.objects[slot, arrays.X]
    dy = w.objects[agent, arrays.Y] - w.objects[slot, arrays.Y]
    # At equal distances the vertical axis counts as the longer one, as in `Object.toward`.
    if abs(dx) > abs(dy) if long_axis else abs(dx) <= abs(dy):
        return int(dx > 0) - int(dx < 0), 0
    return 0, int(dy > 0) - int(dy < 0)


@inlined
def _update_cow(w: World, rules: IntArray, slot: int) -> None:
    _leave_if_dead(w, slot)
    # `Cow.update`: one draw for whether it walks; only then one for the direction.
    if _chance(w, rules, slot, luck.ACTS) < 0.5:
        _step_anywhere(w, rules, slot)


@inlined
def _update_zombie(w: World, rules: IntArray, slot: int) -> None:
    _leave_if_dead(w, slot)
    agent = grid.nearest_agent(w, w.objects[slot, arrays.X], w.objects[slot, arrays.Y])
    distance = _distance(w, slot, agent)
    # `Zombie.update`. The distance test comes first: a distant zombie draws no chance, and the draw of the axis follows
    # that of the chase.
    if distance <= _SIGHT and _chance(w, rules, slot, luck.ACTS) < 0.9:
        dx, dy = _towards(w, slot, agent, _chance(w, rules, slot, luck.AXIS) < 0.8)
        _step(w, slot, dx, dy)
    else:
        _step_anywhere(w, rules, slot)
    agent = grid.nearest_agent(w, w.objects[slot, arrays.X], w.objects[slot, arrays.Y])
    # Measure again after the move: a zombie that has just arrived starts its cooldown in the same step.
    if _distance(w, slot, agent) <= 1:
        if w.objects[slot, arrays.TIMER] > 0:
            w.objects[slot, arrays.TIMER] -= 1
        else:
            harm(w, agent, _HIT_ASLEEP if w.agents[agent, arrays.SLEEPING] else _HIT)
            w.objects[slot, arrays.TIMER] = _COOLDOWN


@inlined
def _distance(w: World, slot: int, agent: int) -> int:
    return (
        grid.NOBODY if agent < 0 else grid.distance_to(w, agent, w.objects[slot, arrays.X], w.objects[slot, arrays.Y])
    )


@inlined
def _update_skeleton(w: World, rules: IntArray, slot: int) -> None:
    _leave_if_dead(w, slot)
    w.objects[slot, arrays.TIMER] = max(0, w.objects[slot, arrays.TIMER] - 1)
    agent = grid.nearest_agent(w, w.objects[slot, arrays.X], w.objects[slot, arrays.Y])
    distance = _distance(w, slot, agent)
    # `Skeleton.update`: it backs away from an agent within 3 cells; only if that fails, or if the agent is farther, it
    # shoots, approaches or wanders. Each chance is drawn only if the earlier ones were not taken, so the order of the
    # conditions is the order of the stream.
    if distance <= 3:
        dx, dy = _towards(w, slot, agent, _chance(w, rules, slot, luck.RETREAT_AXIS) < 0.6)
        if _step(w, slot, -dx, -dy):
            return
    if distance <= 5 and _chance(w, rules, slot, luck.SHOOTS) < 0.5:
        dx, dy = _towards(w, slot, agent, True)
        _shoot(w, slot, dx, dy)
    elif distance <= _SIGHT and _chance(w, rules, slot, luck.ACTS) < 0.3:
        dx, dy = _towards(w, slot, agent, _chance(w, rules, slot, luck.AXIS) < 0.6)
        _step(w, slot, dx, dy)
    elif _chance(w, rules, slot, luck.WANDERS) < 0.2:
        _step_anywhere(w, rules, slot)


@inner
def _shoot(w: World, slot: int, dx: int, dy: int) -> None:
    x, y = w.objects[slot, arrays.X] + dx, w.objects[slot, arrays.Y] + dy
    # The chance of a shot is already drawn: a skeleton that is reloading, or whose path is blocked, wastes it.
    if w.objects[slot, arrays.TIMER] == 0 and (dx != 0 or dy != 0) and grid.is_free(w, x, y, ARROW_MASK):
        arrow = grid.add_object(w, ARROW, x, y, 0)
        w.objects[arrow, arrays.DIRECTION_X] = dx
        w.objects[arrow, arrays.DIRECTION_Y] = dy
        w.objects[slot, arrays.TIMER] = _RELOAD


@inlined
def _update_arrow(w: World, slot: int) -> None:
    x = w.objects[slot, arrays.X] + w.objects[slot, arrays.DIRECTION_X]
    y = w.objects[slot, arrays.Y] + w.objects[slot, arrays.DIRECTION_Y]
    if grid.is_free(w, x, y, ARROW_MASK):
        grid.move_object(w, slot, x, y)
        return
    if grid.inside(w, x, y):
        if grid.slot_at(w, x, y) >= 0:
            harm(w, grid.slot_at(w, x, y), _ARROW_HIT)
        # An arrow that hits a table or furnace turns it into path, as in `Arrow.update`.
        elif (STATION_MASK >> grid.material_at(w, x, y)) & 1:
            grid.set_material(w, x, y, grid.PATH_ID)
    grid.remove_object(w, slot)


@inlined
def _update_plant(w: World, slot: int) -> None:
    w.objects[slot, arrays.TIMER] += 1
    # `Plant.update`: a creature next to the plant eats one unit of its health, at most one creature per step.
    for side in range(4):
        x, y = w.objects[slot, arrays.X] + _RANDOM_X[side], w.objects[slot, arrays.Y] + _RANDOM_Y[side]
        if grid.inside(w, x, y) and grid.slot_at(w, x, y) >= 0:
            kind = w.objects[grid.slot_at(w, x, y), arrays.KIND]
            if grid.COW <= kind <= grid.SKELETON:
                harm(w, slot, 1)
                break
    _leave_if_dead(w, slot)


_NO_LOT: Final = 1 << 53
EVERY: Final = 10
"""Steps between two balancing rounds."""


@inner
def balance(w: World, rules: IntArray, light: float) -> None:
    """Balance every chunk that has ever held an object, in the order of first use; with keys, in map order."""
    # Crafter iterates over a dictionary of chunks, whose keys come in the order in which chunks first held an object.
    # Every chunk draws from the one stream, so that order matters. With keys it must not matter, so the map order is
    # used.
    keyed = luck.is_keyed(rules)
    for number in range(w.chunks.shape[0] if keyed else w.counters[arrays.VISITED_CHUNKS]):
        chunk = number if keyed else w.chunks[number, arrays.VISITED_AT]
        if w.chunks[chunk, arrays.VISITED] == 0:
            continue
        if rules[MOBS]:
            # `Env._balance_chunk`. Zombies: up to 3 by night, none by full day; they need 50 cells of grass. Skeletons:
            # 6 cells of path. Cows: 30 cells of grass. Distances are in cells; chances are per balancing round.
            most = int(3.5 - 3 * light)
            least = most if w.chunks[chunk, arrays.GRASS] >= 50 else 0
            _balance(w, rules, chunk, _ZOMBIE, ZOMBIE_HEALTH, least, most, 6, 0, 0.3, 0.4)
            least = 1 if w.chunks[chunk, arrays.PATHS] >= 6 else 0
            _balance(w, rules, chunk, grid.SKELETON, SKELETON_HEALTH, least, 2, 7, 7, 0.1, 0.1)
        least = 1 if w.chunks[chunk, arrays.GRASS] >= 30 else 0
        _balance(w, rules, chunk, grid.COW, COW_HEALTH, least, int(1.5 + light), 5, 5, 0.01, 0.1)


@inlined
def _balance(
    w: World,
    rules: IntArray,
    chunk: int,
    kind: int,
    health: int,
    least: int,
    most: int,
    spawn_distance: int,
    despawn_distance: int,
    spawn_chance: float,
    despawn_chance: float,
) -> None:
    row = arrays.COWS + kind - grid.COW
    count, pair = w.chunks[chunk, row], chunk * arrays.CHUNK_COLUMNS + row
    # `Env._balance_object`: chance, then cell. The cell is drawn even if it turns out to be occupied or too near an
    # agent, so the order of these tests is fixed.
    if count < least and luck.chance(w, rules, luck.SPAWNS, pair) < spawn_chance:
        x, y = _draw_cell(w, rules, chunk, grid.PATH_ID if kind == grid.SKELETON else grid.GRASS_ID)
        if grid.slot_at(w, x, y) < 0 and grid.nearest_distance(w, x, y) >= spawn_distance:
            grid.add_object(w, kind, x, y, health)
    elif count > most and luck.chance(w, rules, luck.DESPAWNS, pair) < despawn_chance:
        slot = _draw_member(w, rules, chunk, kind, count)
        if grid.nearest_distance(w, w.objects[slot, arrays.X], w.objects[slot, arrays.Y]) >= despawn_distance:
            grid.remove_object(w, slot)


@inner
def _draw_cell(w: World, rules: IntArray, chunk: int, material: int) -> tuple[int, int]:
    """Draw a cell of a material in a chunk: by index, column by column; with keys, that of the smallest hash."""
    width, height = w.materials.shape
    rows = (height + CHUNK - 1) // CHUNK
    left, top = chunk // rows * CHUNK, chunk % rows * CHUNK
    keyed, number = luck.is_keyed(rules), 0
    if not keyed:
        number = below(w.generator, w.chunks[chunk, arrays.PATHS if material == grid.PATH_ID else arrays.GRASS])
    best_x, best_y, best = -1, -1, _NO_LOT
    # Crafter lists the cells of a material by a mask on `[x, y]`: column by column.
    for x in range(left, min(left + CHUNK, width)):
        for y in range(top, min(top + CHUNK, height)):
            if grid.material_at(w, x, y) != material:
                continue
            if keyed:
                rank = luck.lot(w, luck.SPAWN_CELL, grid.cell_at(w, x, y))
                if rank < best:
                    best_x, best_y, best = x, y, rank
            elif number == 0:
                return x, y
            number -= 1
    return best_x, best_y


@inner
def _draw_member(w: World, rules: IntArray, chunk: int, kind: int, count: int) -> int:
    """Draw the slot of a chunk's creature: by index in order of arrival; with keys, that of the smallest hash."""
    # Select without a list: nothing in a kernel allocates, and a chunk holds few creatures of a kind.
    keyed = luck.is_keyed(rules)
    slot, last = -1, -1
    for _ in range(1 if keyed else below(w.generator, count) + 1):
        slot, best = -1, _NO_LOT
        for other in range(w.agents.shape[0], w.counters[arrays.SLOTS]):
            if w.objects[other, arrays.KIND] != kind:
                continue
            if grid.chunk_at(w, w.objects[other, arrays.X], w.objects[other, arrays.Y]) != chunk:
                continue
            rank = w.objects[other, arrays.SEQUENCE]
            if keyed:
                rank = luck.lot(w, luck.DESPAWNED, w.objects[other, arrays.IDENTITY])
            if last < rank < best:
                slot, best = other, rank
        last = best
    return slot

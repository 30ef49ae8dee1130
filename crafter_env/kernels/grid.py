"""Kernels that keep track of cells, objects and chunk counts of one world, and the aim of a `do`.

Crafter keeps objects in a list that only grows, with holes, and the members of each chunk in a set. Here the list is a
table that is compacted now and then, which keeps its order; a chunk's row counts its members as they come and go, and
the number that an object gets when it enters a chunk records the order of arrival.

The aim of a `do` is the one rule for both collecting cells and counting attempts at tasks.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from crafter_env.constants import CHUNK, Entity, Material
from crafter_env.kernels import arrays
from crafter_env.kernels.arrays import IntArray, World
from crafter_env.kernels.jit import inlined, inner
from crafter_env.kernels.rules import COLLECT_RULE, COLLECT_TABLE, COLLECTED_ITEM, MOBS, RADIUS
from crafter_env.profiles import CollectRule

GRASS_ID: Final = int(Material.grass)
PATH_ID: Final = int(Material.path)
COW: Final = int(Entity.cow)
SKELETON: Final = int(Entity.skeleton)
MANY_FREE_SLOTS: Final = 32
NOBODY: Final = 1 << 29
"""Distance to the nearest living agent if there is none."""


@inlined
def inside(w: World, x: int, y: int) -> bool:
    """Whether a cell is on the map."""
    return 0 <= x < w.materials.shape[0] and 0 <= y < w.materials.shape[1]


@inlined
def material_at(w: World, x: int, y: int) -> int:
    """Return the material of a cell on the map, as int64 so that no kernel is compiled twice."""
    # A uint8 would give every caller a second signature to compile.
    return np.int64(w.materials[x, y])  # type: ignore[return-value]


@inlined
def slot_at(w: World, x: int, y: int) -> int:
    """Return the slot of the object on a cell of the map, or -1."""
    return np.int64(w.occupants[x, y]) - 1  # type: ignore[return-value]


@inlined
def cell_at(w: World, x: int, y: int) -> int:
    """Return the number of a cell of the map: x * height + y."""
    return x * w.materials.shape[1] + y


@inlined
def is_free(w: World, x: int, y: int, materials: int) -> bool:
    """Whether a cell is on the map, empty, and of one of the materials in a bit mask."""
    # The mask has one bit per material: one shift instead of a list search.
    return inside(w, x, y) and slot_at(w, x, y) < 0 and (materials >> material_at(w, x, y)) & 1 == 1


@inlined
def chunk_at(w: World, x: int, y: int) -> int:
    """Return the row of a cell's chunk."""
    return (x // CHUNK) * ((w.materials.shape[1] + CHUNK - 1) // CHUNK) + y // CHUNK


@inlined
def set_material(w: World, x: int, y: int, material: int) -> None:
    """Change the material of a cell and the counts of its chunk."""
    chunk = chunk_at(w, x, y)
    before = material_at(w, x, y)
    # `balance` needs only the number of cells of grass and path, so counts replace Crafter's masks of whole chunks.
    w.chunks[chunk, arrays.GRASS] += int(material == GRASS_ID) - int(before == GRASS_ID)
    w.chunks[chunk, arrays.PATHS] += int(material == PATH_ID) - int(before == PATH_ID)
    w.materials[x, y] = material


@inner
def add_object(w: World, kind: int, x: int, y: int, health: int) -> int:
    """Put a new object on a free cell; return its slot."""
    slot = w.counters[arrays.SLOTS]
    w.counters[arrays.SLOTS] += 1
    put_object(w, slot, kind, x, y, health)
    return slot


@inner
def put_object(w: World, slot: int, kind: int, x: int, y: int, health: int) -> None:
    """Put a new object on a free cell, into a given slot."""
    w.objects[slot, arrays.KIND] = kind
    w.objects[slot, arrays.X] = x
    w.objects[slot, arrays.Y] = y
    w.objects[slot, arrays.HEALTH] = health
    for column in range(arrays.DIRECTION_X, arrays.OBJECT_COLUMNS):
        w.objects[slot, column] = 0
    # The number is unique: an object stays where it appeared until the next step, so no other gets the same one.
    w.objects[slot, arrays.IDENTITY] = w.counters[arrays.STEP] * w.materials.size + cell_at(w, x, y) + 1
    w.occupants[x, y] = slot + 1
    _enter(w, slot, kind, chunk_at(w, x, y))


@inner
def remove_object(w: World, slot: int) -> None:
    """Remove an object from the map; the rest of its update may still read its row."""
    x, y = w.objects[slot, arrays.X], w.objects[slot, arrays.Y]
    _count(w, chunk_at(w, x, y), w.objects[slot, arrays.KIND], -1)
    w.occupants[x, y] = 0
    # The row stays until `close_up`: a creature that dies in its own update still reads its position.
    w.objects[slot, arrays.KIND] = 0
    w.counters[arrays.FREE_SLOTS] += 1


@inlined
def move_object(w: World, slot: int, x: int, y: int) -> None:
    """Move an object to a free cell; an object that is off the map stays where it was."""
    kind = w.objects[slot, arrays.KIND]
    if kind == 0:
        return
    before, after = chunk_at(w, w.objects[slot, arrays.X], w.objects[slot, arrays.Y]), chunk_at(w, x, y)
    w.occupants[w.objects[slot, arrays.X], w.objects[slot, arrays.Y]] = 0
    w.occupants[x, y] = slot + 1
    w.objects[slot, arrays.X] = x
    w.objects[slot, arrays.Y] = y
    if before != after:
        _count(w, before, kind, -1)
        _enter(w, slot, kind, after)


@inner
def _enter(w: World, slot: int, kind: int, chunk: int) -> None:
    # Crafter adds a chunk's entry when an object first enters it, and keeps the entry when the chunk is empty again.
    if w.chunks[chunk, arrays.VISITED] == 0:
        w.chunks[chunk, arrays.VISITED] = 1
        w.chunks[w.counters[arrays.VISITED_CHUNKS], arrays.VISITED_AT] = chunk
        w.counters[arrays.VISITED_CHUNKS] += 1
    _count(w, chunk, kind, 1)
    # Stands for the insertion order of the chunk's set, from which creatures are drawn for despawning.
    w.counters[arrays.SEQUENCES] += 1
    w.objects[slot, arrays.SEQUENCE] = w.counters[arrays.SEQUENCES]


@inlined
def _count(w: World, chunk: int, kind: int, change: int) -> None:
    if COW <= kind <= SKELETON:
        w.chunks[chunk, arrays.COWS + kind - COW] += change


@inner
def close_up(w: World) -> None:
    """Compact the object table when it has many holes or fills up; agents keep their slots."""
    used, agents = w.counters[arrays.SLOTS], w.agents.shape[0]
    # Rarely, because it copies rows; but before the table, which cannot grow, is full.
    if w.counters[arrays.FREE_SLOTS] < MANY_FREE_SLOTS and 2 * used <= w.objects.shape[0]:
        return
    end = agents
    for slot in range(agents, used):
        if w.objects[slot, arrays.KIND] == 0:
            continue
        if end < slot:
            for column in range(arrays.OBJECT_COLUMNS):
                w.objects[end, column] = w.objects[slot, column]
            w.occupants[w.objects[end, arrays.X], w.objects[end, arrays.Y]] = end + 1
        end += 1
    w.counters[arrays.SLOTS] = end
    w.counters[arrays.FREE_SLOTS] = 0


@inlined
def distance_to(w: World, agent: int, x: int, y: int) -> int:
    """Return the L1 distance from an agent to a cell."""
    return abs(w.objects[agent, arrays.X] - x) + abs(w.objects[agent, arrays.Y] - y)


@inner
def nearest_agent(w: World, x: int, y: int) -> int:
    """Return the living agent nearest to a cell by L1 distance, ties to the lowest index; -1 if there is none."""
    best, distance = -1, NOBODY
    for agent in range(w.agents.shape[0]):
        # Strictly nearer, so that ties go to the lowest index.
        if w.agents[agent, arrays.ALIVE] and distance_to(w, agent, x, y) < distance:
            best, distance = agent, distance_to(w, agent, x, y)
    return best


@inlined
def nearest_distance(w: World, x: int, y: int) -> int:
    """Return the L1 distance from a cell to the nearest living agent."""
    distance = NOBODY
    for agent in range(w.agents.shape[0]):
        if w.agents[agent, arrays.ALIVE]:
            distance = min(distance, distance_to(w, agent, x, y))
    return distance


NO_CELL: Final = -1
"""Aim of a `do` without effect."""
AREA_AIM: Final = -2
"""Aim of a `do` that acts on every resource and cow within the radius."""
OBJECT_AIM: Final = -3
"""Aim of a `do` handled by the agent itself: at the faced animal, monster, plant or, with the rule `facing`, agent."""
_PLAYER: Final = int(Entity.player)
_FACING, _AREA = int(CollectRule.facing), int(CollectRule.area)


@inner
def aim_of(w: World, rules: IntArray, agent: int) -> int:
    """Return the target of an agent's `do`: a cell (see `grid.cell_at`), or one of the aims above.

    Grass is a target only if it is faced and nothing else is within reach.
    """
    rule = rules[COLLECT_RULE]
    here_x, here_y = w.objects[agent, arrays.X], w.objects[agent, arrays.Y]
    x, y = here_x + w.agents[agent, arrays.FACING_X], here_y + w.agents[agent, arrays.FACING_Y]
    faced_grass = False
    if inside(w, x, y):
        slot = slot_at(w, x, y)
        kind = w.objects[slot, arrays.KIND] if slot >= 0 else 0
        # A faced creature or plant takes precedence over any resource, as in `Player.update`; with the rule `area`, a
        # cow is part of the area.
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
    """Whether a cell holds a resource or, with the rule `area`, a cow."""
    if not inside(w, x, y):
        return False
    slot = slot_at(w, x, y)
    if slot >= 0:
        return rule == _AREA and w.objects[slot, arrays.KIND] == COW
    return _holds_resource(w, x, y)


@inner
def _holds_resource(w: World, x: int, y: int) -> bool:
    material = material_at(w, x, y)
    return material != GRASS_ID and COLLECT_TABLE[material, COLLECTED_ITEM] >= 0

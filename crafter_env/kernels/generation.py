"""Kernels for terrain, first inhabitants and the agents' start. Source: Crafter 1.8.3, `worldgen.py`."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from crafter_env.constants import NEED_MAX, NEEDS, Entity, Material
from crafter_env.kernels import arrays
from crafter_env.kernels.arrays import FlagArray, IntArray, World
from crafter_env.kernels.grid import (
    COW,
    GRASS_ID,
    PATH_ID,
    SKELETON,
    add_object,
    is_free,
    material_at,
    put_object,
    set_material,
)
from crafter_env.kernels.jit import inlined, inner
from crafter_env.kernels.mt19937 import WordArray, below, uniform
from crafter_env.kernels.noise import FieldArray, NoiseArray, add_noise, noise_at, seed_noise
from crafter_env.kernels.rules import CENTRE_X, CENTRE_Y, MOBS, SPAWN, SPAWN_CENTRE, SPAWN_CLUSTER, WALKABLE_MASK

SIMPLEX_SEEDS: Final = 2**31 - 1

MarkArray = npt.NDArray[np.uint8]

COW_HEALTH: Final = 3
ZOMBIE_HEALTH: Final = 5
SKELETON_HEALTH: Final = 3

_ZOMBIE = int(Entity.zombie)
_WATER, _STONE, _SAND = int(Material.water), int(Material.stone), int(Material.sand)
_TREE, _LAVA = int(Material.tree), int(Material.lava)
_COAL, _IRON, _DIAMOND = int(Material.coal), int(Material.iron), int(Material.diamond)

FIELDS: Final = 11
_START, _WATERS, _MOUNTAIN, _BEACHES, _WOODS, _CAVES, _ACROSS, _DOWN, _COALS, _IRONS, _LAVAS = range(FIELDS)
_LAYERS: Final = np.array([
    (_START, 1, 1, 3, 8, 1), (_WATERS, 1, 1, 15, 3, 1), (_WATERS, 1, 1, 5, 3, 0.15), (_MOUNTAIN, 1, 1, 15, 0, 1),
    (_MOUNTAIN, 1, 1, 5, 0, 0.3), (_BEACHES, 1, 1, 9, 4, 1), (_WOODS, 1, 1, 7, 5, 1), (_CAVES, 1, 1, 7, 6, 1),
    (_ACROSS, 0.5, 5, 3, 7, 1), (_DOWN, 5, 0.5, 3, 7, 1), (_COALS, 1, 1, 8, 1, 1), (_IRONS, 1, 1, 6, 2, 1),
    (_LAVAS, 1, 1, 5, 6, 1),
])  # fmt: skip
"""Terms of each field: noise by its stretch across and down, its size in cells, its z, and its weight. All numbers are
Crafter's. The z of each noise keeps its landscapes independent."""
_THRESHOLDS: Final = np.array([
    (_START, 0.5), (_MOUNTAIN, 0.15), (_MOUNTAIN, 0.18), (_MOUNTAIN, 0.3), (_WATERS, 0.25), (_WATERS, 0.3),
    (_WATERS, 0.35), (_BEACHES, -0.2), (_WOODS, 0), (_CAVES, 0.15), (_ACROSS, 0.4), (_DOWN, 0.4), (_COALS, 0),
    (_IRONS, 0.4), (_LAVAS, 0.35),
])  # fmt: skip
"""Thresholds of the values of a field."""
_MARGIN: Final = 2e-4
_MEADOW, _EVERYWHERE = 20, 1 << 20
"""Distances from the middle, in cells, within which the meadow has an effect above the margin; unlimited."""


@inner
def generate_terrain(
    w: World, rules: IntArray, noise: NoiseArray, fields: FieldArray, unsure: MarkArray, tunnels: FlagArray
) -> None:
    """Fill an empty map with materials, around a meadow in the middle.

    Args:
        w: World with a freshly seeded generator.
        rules: See `rules.encode_rules`.
        noise: Scratch, shape (3, 256).
        fields: Scratch, shape (11, W, H).
        unsure: Scratch, shape (W, H).
        tunnels: Shape (W, H): where skeletons may start; written.
    """
    # The first draw of a world, before any cell: `worldgen.generate_world` seeds its noise with it.
    seed_noise(below(w.generator, SIMPLEX_SEEDS), noise)
    # Approximate noise values decide nearly every cell and are five times as fast to compute as OpenSimplex's.
    _estimate_fields(rules, noise, fields)
    _mark_unsure(fields, unsure)
    # Column by column, as in Crafter: trees and ores draw a chance in this order.
    for x in range(w.materials.shape[0]):
        for y in range(w.materials.shape[1]):
            if unsure[x, y]:
                _measure_fields(rules, noise, fields, x, y)
            tunnels[x, y] = False
            set_material(w, x, y, _draw_material(w.generator, fields, tunnels, x, y))


@inner
def populate(w: World, rules: IntArray, tunnels: FlagArray) -> None:
    """Put cows, zombies and skeletons on a map; without mobs, only cows are drawn."""
    # A second pass over finished terrain, again column by column; `worldgen._set_object`. A chance is drawn only if the
    # conditions before it hold, so the order of each `and` matters.
    mobs = rules[MOBS] != 0
    for x in range(w.materials.shape[0]):
        for y in range(w.materials.shape[1]):
            material = material_at(w, x, y)
            if (WALKABLE_MASK >> material) & 1 == 0:
                continue
            square = (x - rules[CENTRE_X]) ** 2 + (y - rules[CENTRE_Y]) ** 2
            if square > 9 and material == GRASS_ID and uniform(w.generator) > 0.985:
                add_object(w, COW, x, y, COW_HEALTH)
            elif mobs and square > 100 and uniform(w.generator) > 0.993:
                add_object(w, _ZOMBIE, x, y, ZOMBIE_HEALTH)
            elif mobs and material == PATH_ID and tunnels[x, y] and uniform(w.generator) > 0.95:
                add_object(w, SKELETON, x, y, SKELETON_HEALTH)


@inner
def _draw_material(generator: WordArray, fields: FieldArray, tunnels: FlagArray, x: int, y: int) -> int:
    # `worldgen._set_material`.
    mountain, water = fields[_MOUNTAIN, x, y], fields[_WATERS, x, y]
    if fields[_START, x, y] > 0.5:
        return GRASS_ID
    if mountain > 0.15:
        return _draw_rock(generator, fields, tunnels, x, y, mountain)
    if 0.25 < water <= 0.35 and fields[_BEACHES, x, y] > -0.2:
        return _SAND
    if water > 0.3:
        return _WATER
    if fields[_WOODS, x, y] > 0 and uniform(generator) > 0.8:
        return _TREE
    return GRASS_ID


@inner
def _draw_rock(generator: WordArray, fields: FieldArray, tunnels: FlagArray, x: int, y: int, mountain: float) -> int:
    # Caves first, then horizontal and vertical tunnels, then ores from common to rare. Coal, iron and diamonds draw a
    # chance only if their noise is high enough.
    if fields[_CAVES, x, y] > 0.15 and mountain > 0.3:
        return PATH_ID
    if fields[_ACROSS, x, y] > 0.4 or fields[_DOWN, x, y] > 0.4:
        tunnels[x, y] = True
        return PATH_ID
    if fields[_COALS, x, y] > 0 and uniform(generator) > 0.85:
        return _COAL
    if fields[_IRONS, x, y] > 0.4 and uniform(generator) > 0.75:
        return _IRON
    if mountain > 0.18 and uniform(generator) > 0.994:
        return _DIAMOND
    if mountain > 0.3 and fields[_LAVAS, x, y] > 0.35:
        return _LAVA
    return _STONE


@inner
def _measure_fields(rules: IntArray, noise: NoiseArray, fields: FieldArray, x: int, y: int) -> None:
    """Compute the values that decide a cell exactly as `worldgen._set_material` does, bit for bit."""
    for field in range(FIELDS):
        fields[field, x, y] = 0.0
    for layer in range(len(_LAYERS)):
        field, across, down, size, z, weight = _LAYERS[layer]
        fields[int(field), x, y] += weight * noise_at(noise, x / across / size, y / down / size, z)
    _combine_fields(rules, fields, x, y, _EVERYWHERE)


@inner
def _estimate_fields(rules: IntArray, noise: NoiseArray, fields: FieldArray) -> None:
    """Compute the values of `_measure_fields` for all cells, to within `_MARGIN`."""
    fields[:] = 0.0
    for layer in range(len(_LAYERS)):
        field, across, down, size, z, weight = _LAYERS[layer]
        add_noise(fields[int(field)], noise, 1 / across / size, 1 / down / size, z, weight)
    for x in range(fields.shape[1]):
        for y in range(fields.shape[2]):
            _combine_fields(rules, fields, x, y, _MEADOW)


@inlined
def _combine_fields(rules: IntArray, fields: FieldArray, x: int, y: int, meadow: int) -> None:
    """Add the start meadow, which has an effect within `meadow` cells, to the noise of waters and mountains."""
    square, start = (x - rules[CENTRE_X]) ** 2 + (y - rules[CENTRE_Y]) ** 2, 0.0
    if square < meadow**2:
        start = 4 - math.sqrt(square)
        start += 2 * fields[_START, x, y]
        start = 1 / (1 + math.exp(-start))
    water = fields[_WATERS, x, y] + 0.1
    water -= 2 * start
    mountain = fields[_MOUNTAIN, x, y] / 1.3
    mountain -= 4 * start + 0.3 * water
    fields[_START, x, y], fields[_WATERS, x, y], fields[_MOUNTAIN, x, y] = start, water, mountain


@inner
def _mark_unsure(fields: FieldArray, unsure: MarkArray) -> None:
    """Mark the cells with a value so near a threshold that only its last bits decide."""
    unsure[:] = 0
    for row in range(len(_THRESHOLDS)):
        field, threshold = _THRESHOLDS[row]
        for x in range(unsure.shape[0]):
            for y in range(unsure.shape[1]):
                unsure[x, y] |= abs(fields[int(field), x, y] - threshold) < _MARGIN


PLAYER: Final = int(Entity.player)
_NEEDS = len(NEEDS)
_FREE, _REACHED, _REJECTED = range(3)

QueueArray = npt.NDArray[np.int64]


@inner
def place_agent(w: World, agent: int, x: int, y: int) -> None:
    """Put an agent on a free cell, with full needs and an empty bag, facing down."""
    for column in range(arrays.BODY_COLUMNS):
        w.agents[agent, column] = 0
    w.agents[agent, arrays.FACING_Y] = 1
    w.agents[agent, arrays.FACING_X] = 0
    w.agents[agent, arrays.ALIVE] = 1
    w.agents[agent, arrays.LAST_HEALTH] = w.agents[agent, arrays.REWARDED_HEALTH] = NEED_MAX
    for item in range(arrays.ITEMS):
        w.agents[agent, arrays.INVENTORY + item] = NEED_MAX if item < _NEEDS else 0
    put_object(w, agent, PLAYER, x, y, 0)


@inner
def spawn(w: World, rules: IntArray, marks: MarkArray, queue: QueueArray) -> int:
    """Put all agents on a populated map.

    Args:
        w: World with free agent slots.
        rules: See `rules.encode_rules`.
        marks: Scratch, shape (W, H).
        queue: Scratch, shape (W H, 2).

    Returns:
        -1; or the largest number of agents that would fit.
    """
    # Only `_spawn_on_grass` draws from the generator, so the single-agent world stays equal to Crafter's.
    if rules[SPAWN] == SPAWN_CENTRE:
        return -1  # the single agent is already placed
    if rules[SPAWN] == SPAWN_CLUSTER:
        return _spawn_cluster(w, rules, marks, queue)
    return _spawn_on_grass(w)


@inner
def _spawn_cluster(w: World, rules: IntArray, marks: MarkArray, queue: QueueArray) -> int:
    """Spawn on the free walkable cells nearest to the middle, in the nearest component with room for all."""
    width, height = w.materials.shape
    for x in range(width):
        for y in range(height):
            marks[x, y] = _FREE
    # A team must be able to meet: all agents stand in one connected component. Components are tried from the middle
    # outwards, and each is flooded once.
    agents, room = w.agents.shape[0], 0
    while True:
        x, y = _nearest_marked(w, rules, marks, _FREE)
        if x < 0:
            return room
        size = _flood(w, marks, queue, x, y)
        if size >= agents:
            break
        room = max(room, size)
        for k in range(size):
            marks[queue[k, 0], queue[k, 1]] = _REJECTED
    for agent in range(agents):
        x, y = _nearest_marked(w, rules, marks, _REACHED)
        place_agent(w, agent, x, y)
    return -1


@inner
def _nearest_marked(w: World, rules: IntArray, marks: MarkArray, mark: int) -> tuple[int, int]:
    """Return the free walkable cell with a mark that is nearest to the middle, ties row by row; else (-1, -1)."""
    centre_x, centre_y = rules[CENTRE_X], rules[CENTRE_Y]
    # Rings of equal L1 distance, from the inside out, so that the first hit is the nearest.
    for distance in range(w.materials.shape[0] + w.materials.shape[1]):
        for dy in range(-distance, distance + 1):
            dx = distance - abs(dy)
            for x in (centre_x - dx, centre_x + dx):
                y = centre_y + dy
                if is_free(w, x, y, WALKABLE_MASK) and marks[x, y] == mark:
                    return x, y
    return -1, -1


@inner
def _flood(w: World, marks: MarkArray, queue: QueueArray, x: int, y: int) -> int:
    """Mark the component of a cell as reached and list it in the queue; return its size."""
    queue[0, 0], queue[0, 1] = x, y
    marks[x, y] = _REACHED
    done, size = 0, 1
    while done < size:
        x, y = queue[done, 0], queue[done, 1]
        done += 1
        for dx, dy in ((0, -1), (-1, 0), (1, 0), (0, 1)):
            if is_free(w, x + dx, y + dy, WALKABLE_MASK) and marks[x + dx, y + dy] == _FREE:
                marks[x + dx, y + dy] = _REACHED
                queue[size, 0], queue[size, 1] = x + dx, y + dy
                size += 1
    return size


@inner
def _spawn_on_grass(w: World) -> int:
    cells = 0
    for x in range(w.materials.shape[0]):
        for y in range(w.materials.shape[1]):
            cells += is_free(w, x, y, 1 << GRASS_ID)
    agents = w.agents.shape[0]
    # Counted first: each draw below is the number of one of the free cells that are left.
    if cells < agents:
        return cells
    for agent in range(agents):
        x, y = _free_grass(w, below(w.generator, cells - agent))
        place_agent(w, agent, x, y)
    return -1


@inner
def _free_grass(w: World, number: int) -> tuple[int, int]:
    """Return the free grass cell with a number, counted column by column."""
    for x in range(w.materials.shape[0]):
        for y in range(w.materials.shape[1]):
            if is_free(w, x, y, 1 << GRASS_ID):
                if number == 0:
                    return x, y
                number -= 1
    return -1, -1

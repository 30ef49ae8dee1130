"""Spawning and despawning, chunk by chunk, as kernels. Source: Crafter 1.8.3, `Env._balance_chunk`."""

from __future__ import annotations

from typing import Final

from crafter_env.constants import CHUNK, Entity
from crafter_env.kernels.arrays import (
    COWS,
    GRASS,
    KIND,
    PATHS,
    SEQUENCE,
    SLOTS,
    VISITED_AT,
    VISITED_CHUNKS,
    IntArray,
    World,
    X,
    Y,
)
from crafter_env.kernels.grid import (
    COW,
    GRASS_ID,
    PATH_ID,
    SKELETON,
    add_object,
    chunk_at,
    material_at,
    nearest_distance,
    remove_object,
    slot_at,
)
from crafter_env.kernels.jit import inner
from crafter_env.kernels.mt19937 import below, uniform
from crafter_env.kernels.rules import MOBS
from crafter_env.kernels.terrain import COW_HEALTH, SKELETON_HEALTH, ZOMBIE_HEALTH

EVERY: Final = 10
"""Steps between two balancings."""
_ZOMBIE: Final = int(Entity.zombie)


@inner
def balance(w: World, rules: IntArray, light: float) -> None:
    """Balance every chunk that has ever held an object, in the order of the first."""
    for number in range(w.counters[VISITED_CHUNKS]):
        chunk = w.chunks[number, VISITED_AT]
        if rules[MOBS]:
            most = int(3.5 - 3 * light)
            least = most if w.chunks[chunk, GRASS] >= 50 else 0
            _balance(w, chunk, _ZOMBIE, ZOMBIE_HEALTH, least, most, 6, 0, 0.3, 0.4)
            least = 1 if w.chunks[chunk, PATHS] >= 6 else 0
            _balance(w, chunk, SKELETON, SKELETON_HEALTH, least, 2, 7, 7, 0.1, 0.1)
        least = 1 if w.chunks[chunk, GRASS] >= 30 else 0
        _balance(w, chunk, COW, COW_HEALTH, least, int(1.5 + light), 5, 5, 0.01, 0.1)


@inner
def _balance(
    w: World,
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
    count = w.chunks[chunk, COWS + kind - COW]
    if count < least and uniform(w.generator) < spawn_chance:
        column, material = (PATHS, PATH_ID) if kind == SKELETON else (GRASS, GRASS_ID)
        x, y = _cell_of(w, chunk, material, below(w.generator, w.chunks[chunk, column]))
        if slot_at(w, x, y) < 0 and nearest_distance(w, x, y) >= spawn_distance:
            add_object(w, kind, x, y, health)
    elif count > most and uniform(w.generator) < despawn_chance:
        slot = _member_of(w, chunk, kind, below(w.generator, count))
        if nearest_distance(w, w.objects[slot, X], w.objects[slot, Y]) >= despawn_distance:
            remove_object(w, slot)


@inner
def _cell_of(w: World, chunk: int, material: int, number: int) -> tuple[int, int]:
    """The cell of a material with a number, counted column by column."""
    width, height = w.materials.shape
    rows = (height + CHUNK - 1) // CHUNK
    left, top = chunk // rows * CHUNK, chunk % rows * CHUNK
    for x in range(left, min(left + CHUNK, width)):
        for y in range(top, min(top + CHUNK, height)):
            if material_at(w, x, y) == material:
                if number == 0:
                    return x, y
                number -= 1
    return -1, -1


@inner
def _member_of(w: World, chunk: int, kind: int, number: int) -> int:
    """The slot of a chunk's creature with a number, counted in the order in which they came to it."""
    slot, last = -1, 0
    for _ in range(number + 1):
        slot = -1
        for other in range(w.agents.shape[0], w.counters[SLOTS]):
            if w.objects[other, KIND] != kind or w.objects[other, SEQUENCE] <= last:
                continue
            if chunk_at(w, w.objects[other, X], w.objects[other, Y]) != chunk:
                continue
            if slot < 0 or w.objects[other, SEQUENCE] < w.objects[slot, SEQUENCE]:
                slot = other
        last = w.objects[slot, SEQUENCE]
    return slot

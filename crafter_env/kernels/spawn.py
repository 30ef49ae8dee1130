"""Where the agents begin, as kernels."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from crafter_env.constants import NEED_MAX, NEEDS, Entity
from crafter_env.kernels.arrays import (
    ALIVE,
    BODY_COLUMNS,
    FACING_X,
    FACING_Y,
    INVENTORY,
    ITEMS,
    LAST_HEALTH,
    REWARDED_HEALTH,
    IntArray,
    World,
)
from crafter_env.kernels.grid import GRASS_ID, is_free, put_object
from crafter_env.kernels.jit import inner
from crafter_env.kernels.mt19937 import below
from crafter_env.kernels.rules import CENTRE_X, CENTRE_Y, SPAWN, SPAWN_CENTRE, SPAWN_CLUSTER, WALKABLE_MASK

PLAYER: Final = int(Entity.player)
_NEEDS = len(NEEDS)
_FREE, _REACHED, _REJECTED = range(3)

QueueArray = npt.NDArray[np.int64]
MarkArray = npt.NDArray[np.uint8]


@inner
def place_agent(w: World, agent: int, x: int, y: int) -> None:
    """Put an agent on a free cell, well, with an empty bag, and facing down."""
    for column in range(BODY_COLUMNS):
        w.agents[agent, column] = 0
    w.agents[agent, FACING_Y] = 1
    w.agents[agent, FACING_X] = 0
    w.agents[agent, ALIVE] = 1
    w.agents[agent, LAST_HEALTH] = w.agents[agent, REWARDED_HEALTH] = NEED_MAX
    for item in range(ITEMS):
        w.agents[agent, INVENTORY + item] = NEED_MAX if item < _NEEDS else 0
    put_object(w, agent, PLAYER, x, y, 0)


@inner
def spawn(w: World, rules: IntArray, marks: MarkArray, queue: QueueArray) -> int:
    """Put all agents on a populated map.

    Args:
        w: Its agents' slots are free.
        rules: See `rules.encode_rules`.
        marks: Scratch, shape (W, H).
        queue: Scratch, shape (W H, 2).

    Returns:
        -1; or the largest number of agents for whom there was room.
    """
    if rules[SPAWN] == SPAWN_CENTRE:
        return -1  # the one agent was there first
    if rules[SPAWN] == SPAWN_CLUSTER:
        return _spawn_cluster(w, rules, marks, queue)
    return _spawn_on_grass(w)


@inner
def _spawn_cluster(w: World, rules: IntArray, marks: MarkArray, queue: QueueArray) -> int:
    """On the free walkable cells of the component with room for all whose nearest cell is nearest to the middle."""
    width, height = w.materials.shape
    for x in range(width):
        for y in range(height):
            marks[x, y] = _FREE
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
    """The free walkable cell with a mark that is nearest to the middle, ties row by row; (-1, -1) without any."""
    centre_x, centre_y = rules[CENTRE_X], rules[CENTRE_Y]
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
    """Mark the component of a cell as reached and list it in the queue; give its size."""
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
    if cells < agents:
        return cells
    for agent in range(agents):
        x, y = _free_grass(w, below(w.generator, cells - agent))
        place_agent(w, agent, x, y)
    return -1


@inner
def _free_grass(w: World, number: int) -> tuple[int, int]:
    """The free cell of grass with a number, counted column by column."""
    for x in range(w.materials.shape[0]):
        for y in range(w.materials.shape[1]):
            if is_free(w, x, y, 1 << GRASS_ID):
                if number == 0:
                    return x, y
                number -= 1
    return -1, -1

"""Kernels for the agents' map memories, paths over them, and changes of the agents since the last step.

A map memory is uint8 (W, H): the material last seen in each cell, 0 if the agent has never seen it. No path search
reads the real world: unseen cells are either blocked or, for agents that may enter them, assumed free until seen.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from crafter_env.constants import VIEW, Action, Item, Material
from crafter_env.kernels import arrays
from crafter_env.kernels.arrays import ByteArray, IntArray, SlotArray
from crafter_env.kernels.jit import compiled
from crafter_env.kernels.rules import WALKABLE_MASK

FieldArray = npt.NDArray[np.int32]

HALF_WIDTH: Final = VIEW[0] // 2
HALF_HEIGHT: Final = VIEW[1] // 2
NO_WAY: Final = -1
NEAREST: Final = 3
"""Number of cells listed per material."""
SEEN_MASK: Final = WALKABLE_MASK
"""Bit mask of the materials that a path over seen cells may cross."""
HOPEFUL_MASK: Final = WALKABLE_MASK | 1 << int(Material.none)
"""The same for a path that assumes unseen cells to be free."""
_UP, _DOWN = int(Action.move_up), int(Action.move_down)
_LEFT, _RIGHT = int(Action.move_left), int(Action.move_right)
_STEPS: Final = np.array(((_UP, 0, -1), (_DOWN, 0, 1), (_LEFT, -1, 0), (_RIGHT, 1, 0)), dtype=np.int64)


@compiled
def remember(materials: ByteArray, objects: IntArray, agents: IntArray, memory: ByteArray) -> None:
    """Write the current view of each living agent into its map memory, (n, W, H)."""
    width, height = materials.shape
    for i in range(agents.shape[0]):
        if agents[i, arrays.ALIVE] == 0:
            continue
        x, y = objects[i, arrays.X], objects[i, arrays.Y]
        # The local view of 9 x 7 cells, clipped at the map edges.
        for u in range(max(x - HALF_WIDTH, 0), min(x + HALF_WIDTH + 1, width)):
            for v in range(max(y - HALF_HEIGHT, 0), min(y + HALF_HEIGHT + 1, height)):
                memory[i, u, v] = materials[u, v]


@compiled
def notice(objects: IntArray, agents: IntArray, step: int, met: FieldArray) -> None:
    """Write where and when each living agent sees its living teammates, (n, n, 3): x, y, step."""
    for i in range(agents.shape[0]):
        if agents[i, arrays.ALIVE] == 0:
            continue
        x, y = objects[i, arrays.X], objects[i, arrays.Y]
        for j in range(agents.shape[0]):
            u, v = objects[j, arrays.X], objects[j, arrays.Y]
            if j != i and agents[j, arrays.ALIVE] != 0 and abs(u - x) <= HALF_WIDTH and abs(v - y) <= HALF_HEIGHT:
                met[i, j, 0], met[i, j, 1], met[i, j, 2] = u, v, step


@compiled
def next_step(
    known: ByteArray,
    occupants: SlotArray,
    mask: int,
    x: int,
    y: int,
    goals: IntArray,
    field: FieldArray,
    queue: IntArray,
) -> int:
    """Return the first step of a shortest path.

    Cells whose known material is in the mask are free, except occupied cells in view. Ties are broken in the order up,
    down, left, right.

    Args:
        known: map memory, (W, H).
        mask: `SEEN_MASK` or `HOPEFUL_MASK`.
        occupants: see `World`; read only within view.
        x: column of the agent.
        y: row of the agent.
        goals: target cells, (k, 2); those that are not free are ignored.
        field: scratch, (W, H).
        queue: scratch, (W H, 2).

    Returns:
        A primitive; 0 on a goal; `NO_WAY` if there is no path.
    """
    # Breadth first from the goals, so one search serves any number of them; it ends next to the agent.
    field[:] = NO_WAY
    end = 0
    for k in range(goals.shape[0]):
        u, v = goals[k, 0], goals[k, 1]
        if u == x and v == y:
            return 0
        if _is_free(known, occupants, mask, x, y, u, v) and field[u, v] < 0:
            field[u, v] = 0
            queue[end, 0], queue[end, 1] = u, v
            end += 1
    done = 0
    while done < end:
        u, v = queue[done, 0], queue[done, 1]
        done += 1
        if abs(u - x) + abs(v - y) == 1:
            break
        end = _spread(known, occupants, mask, x, y, u, v, field, queue, end)
    else:
        return NO_WAY
    # Strictly smaller, so that ties go to the first of `_STEPS`.
    best, step = 1 << 30, NO_WAY
    for k in range(4):
        u, v = x + _STEPS[k, 1], y + _STEPS[k, 2]
        if 0 <= u < known.shape[0] and 0 <= v < known.shape[1] and 0 <= field[u, v] < best:
            best, step = field[u, v], _STEPS[k, 0]
    return step


@compiled
def measure(known: ByteArray, occupants: SlotArray, x: int, y: int, field: FieldArray, queue: IntArray) -> None:
    """Write the length of the shortest path from an agent to each cell into `field`; -1 if there is none."""
    field[:] = NO_WAY
    field[x, y] = 0
    queue[0, 0], queue[0, 1] = x, y
    done, end = 0, 1
    while done < end:
        u, v = queue[done, 0], queue[done, 1]
        done += 1
        end = _spread(known, occupants, SEEN_MASK, x, y, u, v, field, queue, end)


@compiled
def _spread(
    known: ByteArray,
    occupants: SlotArray,
    mask: int,
    x: int,
    y: int,
    u: int,
    v: int,
    field: FieldArray,
    queue: IntArray,
    end: int,
) -> int:
    for k in range(4):
        i, j = u + _STEPS[k, 1], v + _STEPS[k, 2]
        if _is_free(known, occupants, mask, x, y, i, j) and field[i, j] < 0:
            field[i, j] = field[u, v] + 1
            queue[end, 0], queue[end, 1] = i, j
            end += 1
    return end


@compiled
def _is_free(known: ByteArray, occupants: SlotArray, mask: int, x: int, y: int, u: int, v: int) -> bool:
    """Whether a cell is walkable, as far as an agent at (x, y) knows."""
    if not (0 <= u < known.shape[0] and 0 <= v < known.shape[1]):
        return False
    if (mask >> np.int64(known[u, v])) & 1 == 0:
        return False
    # Creatures out of view are unknown: the map memory holds only materials.
    in_view = abs(u - x) <= HALF_WIDTH and abs(v - y) <= HALF_HEIGHT
    return not (in_view and occupants[u, v] > 0)


@compiled
def nearest_cells(known: ByteArray, field: FieldArray, reach: IntArray, found: IntArray) -> None:
    """List the nearest reachable cells of each material.

    Args:
        known: map memory, (W, H).
        field: from `measure`.
        reach: for each material, the L1 distance from which it can be acted on; -1 for materials not listed.
        found: (materials, NEAREST, 3) x, y and path length, -1 if there is none; written, nearest first, ties column by
            column.
    """
    found[:] = -1
    width, height = known.shape
    for x in range(width):
        for y in range(height):
            material = np.int64(known[x, y])
            radius = reach[material]
            if radius < 0:
                continue
            length = -1
            for dx in range(-radius, radius + 1):
                for dy in range(abs(dx) - radius, radius - abs(dx) + 1):
                    u, v = x + dx, y + dy
                    if 0 <= u < width and 0 <= v < height and field[u, v] >= 0 and (length < 0 or field[u, v] < length):
                        length = field[u, v]
            if length >= 0:
                _insert(found[material], x, y, length)


@compiled
def _insert(rows: IntArray, x: int, y: int, length: int) -> None:
    for k in range(rows.shape[0]):
        if rows[k, 2] < 0 or length < rows[k, 2]:
            for j in range(rows.shape[0] - 1, k, -1):
                for column in range(3):
                    rows[j, column] = rows[j - 1, column]
            rows[k, 0], rows[k, 1], rows[k, 2] = x, y, length
            return


@compiled
def frontiers(known: ByteArray, field: FieldArray, x: int, y: int, found: IntArray) -> None:
    """List, for up, down, left and right, the nearest reachable cell that borders on unseen cells.

    A cell belongs to the direction of its larger offset; ties go to the vertical one.

    Args:
        known: map memory, (W, H).
        field: from `measure`.
        x: column of the agent.
        y: row of the agent.
        found: (4, 3) x, y and path length, -1 if there is none; written.
    """
    found[:] = -1
    width, height = known.shape
    for u in range(width):
        for v in range(height):
            if field[u, v] < 0 or (u == x and v == y):
                continue
            unseen = False
            for k in range(4):
                i, j = u + _STEPS[k, 1], v + _STEPS[k, 2]
                if 0 <= i < width and 0 <= j < height and known[i, j] == 0:
                    unseen = True
            if not unseen:
                continue
            is_vertical = abs(v - y) >= abs(u - x)
            side = (0 if v < y else 1) if is_vertical else (2 if u < x else 3)
            if found[side, 2] < 0 or field[u, v] < found[side, 2]:
                found[side, 0], found[side, 1], found[side, 2] = u, v, field[u, v]


FIRST_CAPABILITY: Final = int(Item.wood)
"""The first item whose possession is a capability: all but needs and saplings."""
CAPABILITIES: Final = arrays.ITEMS - FIRST_CAPABILITY


@compiled
def note_changes(agents: IntArray, counted: IntArray, held: ByteArray, changed: IntArray) -> tuple[int, bool]:
    """Update the record of what the agents hold and have achieved.

    Args:
        agents: see `World`.
        counted: (22,) how often the team has reached each achievement; written here.
        held: (n, 11) 1 if an agent is alive and holds an item; written here.
        changed: (11 n, 3) agent, item, and 1 for gained, for each change of `held`; written here.

    Returns:
        The number of rows in `changed`, and whether `counted` has changed.
    """
    found, progressed = 0, False
    for achievement in range(arrays.ACHIEVEMENTS):
        total = 0
        for agent in range(agents.shape[0]):
            total += agents[agent, arrays.ACHIEVED + achievement]
        progressed = progressed or total != counted[achievement]
        counted[achievement] = total
    for agent in range(agents.shape[0]):
        for column in range(CAPABILITIES):
            holds = agents[agent, arrays.ALIVE] != 0 and agents[agent, arrays.INVENTORY + FIRST_CAPABILITY + column] > 0
            if holds != (held[agent, column] != 0):
                held[agent, column] = holds
                changed[found, 0], changed[found, 1], changed[found, 2] = agent, FIRST_CAPABILITY + column, holds
                found += 1
    return found, progressed

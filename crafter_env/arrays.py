"""The arrays of a batch of worlds: their shapes, their columns and their types.

B worlds of W x H cells, n agents each. A single environment is a batch of one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from crafter_env.constants import CHUNK, VIEW, Achievement, Item
from crafter_env.mt19937 import GENERATOR_WORDS

ByteArray = npt.NDArray[np.uint8]
SlotArray = npt.NDArray[np.int16]
IntArray = npt.NDArray[np.int32]
CounterArray = npt.NDArray[np.int64]
ActionArray = npt.NDArray[np.int64]
WordArray = npt.NDArray[np.uint32]
RealArray = npt.NDArray[np.float64]
FlagArray = npt.NDArray[np.bool_]

ITEMS, ACHIEVEMENTS = len(Item), len(Achievement)

ACTION_COLUMNS = 4
"""Of a joint action: the primitive; then recipient, item and quantity of a share."""
ACTION, RECIPIENT, SHARED_ITEM, QUANTITY = range(ACTION_COLUMNS)

OBJECT_COLUMNS = 9
KIND, X, Y, HEALTH, DIRECTION_X, DIRECTION_Y, TIMER, SEQUENCE, IDENTITY = range(OBJECT_COLUMNS)
"""Of an object: its `Entity`, 0 in a slot that is free again; its cell; the flight of an arrow; a zombie's cooldown, a
skeleton's reload or a plant's age; when it came to its chunk; its number, which no other object of the episode has."""

PLAYER_COLUMNS = 14
(
    FACING_X, FACING_Y, SLEEPING, ALIVE, HUNGER, THIRST, FATIGUE, RECOVER, LAST_HEALTH, REWARDED_HEALTH, UNLOCKED,
    CHOSEN, AIM_X, AIM_Y,
) = range(PLAYER_COLUMNS)  # fmt: skip
"""Of an agent: hunger, thirst and recovery count halves of a step; two healths as of its last update and of the last
step; a bit for each achievement unlocked; scratch of a step: the action it takes, and the cell that its `do` aims at."""

CHUNK_COLUMNS = 7
VISITED, GRASS, PATHS, COWS, ZOMBIES, SKELETONS, VISITED_AT = range(CHUNK_COLUMNS)
"""Of a chunk: whether it has held an object; its cells of grass and path; its animals and monsters; and, apart from the
rest of the row, the chunk that was visited as the row's number says."""

COUNTERS = 6
STEP, SLOTS, FREE_SLOTS, VISITED_CHUNKS, IDENTITIES, SEQUENCES = range(COUNTERS)

OUTCOME_COLUMNS = 11
(
    RESULT, DID, TARGET, TARGET_X, TARGET_Y, REQUIRED, PRESENT, CAPABLE, OUTCOME_ITEM, AMOUNT, OTHER,
) = range(OUTCOME_COLUMNS)  # fmt: skip
"""See `crafter_env.state.Outcome`; -1 where there is nothing to say."""

POSE_COLUMNS = 5
POSE_X, POSE_Y, POSE_FACING_X, POSE_FACING_Y, POSE_SLEEPING = range(POSE_COLUMNS)


class World(NamedTuple):
    """The arrays that a step reads and writes; C-contiguous, and each with a leading dimension B in a batch."""

    materials: ByteArray
    """(W, H): `Material` of each cell."""
    occupants: SlotArray
    """(W, H): 0 free, s + 1 the object in slot s."""
    objects: IntArray
    """(2 W H, 9): agents by index, then other objects in the order in which they came."""
    players: IntArray
    """(n, 14)."""
    inventory: IntArray
    """(n, 16): amount of each `Item`."""
    achievements: IntArray
    """(n, 22): how often each `Achievement` was reached."""
    chunks: IntArray
    """(C, 7): chunks of 12 x 12 cells, by column and then row."""
    counters: CounterArray
    """(6,): steps taken; slots used and those of them that are free again; chunks visited; two series of numbers."""
    generator: WordArray
    """(625,): the Mersenne Twister."""
    daylight: RealArray
    """(1,): 0 at midnight, 1 at noon."""
    outcomes: IntArray
    """(n, 11): what came of each agent's action in the last step."""
    collected: IntArray
    """(n, 16): units of each item that each agent's `do` brought in the last step, before the cap."""


class Views(NamedTuple):
    """What the agents see of a step; in a batch each with a leading dimension B. Extents of 0: not kept."""

    materials: ByteArray
    """(n, 9, 7): `Material` of the cells around each agent, 0 off the map."""
    entities: ByteArray
    """(n, 9, 7): `Entity` on them."""
    poses: IntArray
    """(n, 5): x, y, facing x, facing y, and whether it sleeps."""


class Ends(NamedTuple):
    """Rewards and ends of a step; in a batch each with a leading dimension B."""

    rewards: RealArray
    """(n,)."""
    terminations: FlagArray
    """(n,)."""
    truncations: FlagArray
    """(n,)."""


def chunk_rows(height: int) -> int:
    """Chunks in a column of them."""
    return -(-height // CHUNK)


def allocate_worlds(num_envs: int, size: tuple[int, int], n: int) -> World:
    """The arrays of a batch, all zero; pages of the objects that are never touched take no memory."""
    width, height = size

    def zeros(kind: type[np.generic], *shape: int) -> npt.NDArray[Any]:
        return np.zeros((num_envs, *shape), dtype=kind)

    return World(
        materials=zeros(np.uint8, width, height),
        occupants=zeros(np.int16, width, height),
        objects=zeros(np.int32, 2 * width * height, OBJECT_COLUMNS),
        players=zeros(np.int32, n, PLAYER_COLUMNS),
        inventory=zeros(np.int32, n, ITEMS),
        achievements=zeros(np.int32, n, ACHIEVEMENTS),
        chunks=zeros(np.int32, chunk_rows(width) * chunk_rows(height), CHUNK_COLUMNS),
        counters=zeros(np.int64, COUNTERS),
        generator=zeros(np.uint32, GENERATOR_WORDS),
        daylight=zeros(np.float64, 1),
        outcomes=zeros(np.int32, n, OUTCOME_COLUMNS),
        collected=zeros(np.int32, n, ITEMS),
    )


def allocate_views(num_envs: int, n: int, *, kept: bool = True) -> Views:
    """Arrays for what the agents see, to be written."""
    columns, rows = VIEW if kept else (0, 0)
    return Views(
        np.empty((num_envs, n, columns, rows), dtype=np.uint8),
        np.empty((num_envs, n, columns, rows), dtype=np.uint8),
        np.empty((num_envs, n, POSE_COLUMNS), dtype=np.int32),
    )


def allocate_ends(num_envs: int, n: int) -> Ends:
    """Arrays for rewards and ends, all zero."""
    shape = (num_envs, n)
    return Ends(np.zeros(shape), np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_))

"""The arrays of a batch of worlds: their shapes, their columns and their types.

B worlds of W x H cells, n agents each. A single environment is a batch of one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from crafter_env.constants import CHUNK, VIEW, Achievement, Item
from crafter_env.kernels.mt19937 import GENERATOR_WORDS

ByteArray = npt.NDArray[np.uint8]
SlotArray = npt.NDArray[np.int16]
IntArray = npt.NDArray[np.int64]
WordArray = npt.NDArray[np.uint32]
RealArray = npt.NDArray[np.float64]
LightArray = npt.NDArray[np.float32]
MaskArray = npt.NDArray[np.int8]
FlagArray = npt.NDArray[np.bool_]

ITEMS, ACHIEVEMENTS = len(Item), len(Achievement)

ACTION_COLUMNS = 4
"""Columns of a joint action: the primitive; then recipient, item and quantity of a share."""
ACTION, RECIPIENT, SHARED_ITEM, QUANTITY = range(ACTION_COLUMNS)

OBJECT_COLUMNS = 9
KIND, X, Y, HEALTH, DIRECTION_X, DIRECTION_Y, TIMER, SEQUENCE, IDENTITY = range(OBJECT_COLUMNS)
"""Columns of an object: its `Entity`, 0 in a freed slot; its cell; the direction of an arrow; a zombie's cooldown, a
skeleton's reload or a plant's age; when it entered its chunk; its number, unique in the episode: its first step and
cell, as step W H + x H + y + 1."""

BODY_COLUMNS = 13
(
    FACING_X, FACING_Y, SLEEPING, ALIVE, HUNGER, THIRST, FATIGUE, RECOVER, LAST_HEALTH, REWARDED_HEALTH, UNLOCKED,
    CHOSEN, AIM,
) = range(BODY_COLUMNS)  # fmt: skip
"""Columns of an agent: hunger, thirst and recovery count half-steps; two healths, as of its last update and of the last
step; a bit for each unlocked achievement; scratch of a step: the action it takes, the target of its `do`."""
INVENTORY = BODY_COLUMNS
"""Column of the amount of the first `Item`; the others follow."""
ACHIEVED = INVENTORY + ITEMS
"""Column of the count of the first `Achievement`; the others follow."""
GAINED = ACHIEVED + ACHIEVEMENTS
"""Column of the units of the first `Item` gained by the agent's `do` in the last step; the others follow."""
OUTCOME = GAINED + ITEMS
OUTCOME_COLUMNS = 11
AGENT_COLUMNS = OUTCOME + OUTCOME_COLUMNS
(
    RESULT, DID, TARGET, TARGET_X, TARGET_Y, REQUIRED, PRESENT, CAPABLE, OUTCOME_ITEM, AMOUNT, OTHER,
) = range(OUTCOME, AGENT_COLUMNS)  # fmt: skip
"""Columns of the outcome of the agent's last action; see `crafter_env.state.Outcome`; -1: no value."""

CHUNK_COLUMNS = 7
VISITED, GRASS, PATHS, COWS, ZOMBIES, SKELETONS, VISITED_AT = range(CHUNK_COLUMNS)
"""Columns of a chunk: whether it has held an object; its cells of grass and path; its animals and monsters; and,
independent of the rest of the row, the chunk that was visited in the order of the row number."""

COUNTERS = 5
STEP, SLOTS, FREE_SLOTS, VISITED_CHUNKS, SEQUENCES = range(COUNTERS)

POSE_COLUMNS = 5
POSE_X, POSE_Y, POSE_FACING_X, POSE_FACING_Y, POSE_SLEEPING = range(POSE_COLUMNS)


class World(NamedTuple):
    """The arrays that a step reads and writes; C-contiguous, each with a leading dimension B in a batch."""

    materials: ByteArray
    """(W, H): `Material` of each cell."""
    occupants: SlotArray
    """(W, H): 0 free, s + 1 for the object in slot s."""
    objects: IntArray
    """(2 W H + 7, 9): agents by index, then other objects in order of arrival."""
    agents: IntArray
    """(n, 78): body, inventory, achievements, gains and outcome of each agent."""
    chunks: IntArray
    """(C, 7): chunks of 12 x 12 cells, by column and then row."""
    counters: IntArray
    """(5,): steps taken; slots used, and how many of them are free again; chunks visited; entries into chunks."""
    generator: WordArray
    """(625,): the Mersenne Twister."""


class Views(NamedTuple):
    """The agents' observations of a step; in a batch each with a leading dimension B. Extents of 0: not stored."""

    materials: ByteArray
    """(n, 9, 7): `Material` of the cells around each agent, 0 off the map."""
    entities: ByteArray
    """(n, 9, 7): `Entity` on these cells."""
    poses: IntArray
    """(n, 5): x, y, facing x, facing y, sleeping."""
    daylight: LightArray
    """(n, 1): 0 at midnight, 1 at noon; equal for all agents."""
    masks: MaskArray
    """(n, A): the actions available to each agent; see `kernels.masking`."""


class Ends(NamedTuple):
    """Rewards and ends of a step; in a batch each with a leading dimension B."""

    rewards: RealArray
    """(n,)."""
    terminations: FlagArray
    """(n,)."""
    truncations: FlagArray
    """(n,)."""


def chunk_rows(height: int) -> int:
    """Number of chunks in a column."""
    return -(-height // CHUNK)


def allocate_worlds(num_envs: int, size: tuple[int, int], n: int) -> World:
    """Allocate the arrays of a batch, all zero; untouched pages of the objects take no memory."""
    width, height = size

    def zeros(kind: type[np.generic], *shape: int) -> npt.NDArray[Any]:
        return np.zeros((num_envs, *shape), dtype=kind)

    return World(
        materials=zeros(np.uint8, width, height),
        occupants=zeros(np.int16, width, height),
        objects=zeros(np.int64, _object_rows(size), OBJECT_COLUMNS),
        agents=zeros(np.int64, n, AGENT_COLUMNS),
        chunks=zeros(np.int64, chunk_rows(width) * chunk_rows(height), CHUNK_COLUMNS),
        counters=zeros(np.int64, COUNTERS),
        generator=zeros(np.uint32, GENERATOR_WORDS),
    )


def _object_rows(size: tuple[int, int]) -> int:
    """Number of rows in the object table; odd, so that the worlds of a batch do not share cache lines."""
    return 2 * size[0] * size[1] + 7


def packed(world: World) -> World:
    """Prepare the arrays of a world or a batch for a copy or a pickle: drops object rows that no world uses."""
    used = int(world.counters[..., SLOTS].max())
    return world._replace(objects=world.objects[..., :used, :])


def unpacked(world: World) -> World:
    """Restore fresh arrays from the result of `packed`; arrays from a pickle may be read-only."""
    *leading, used, columns = world.objects.shape
    width, height = world.materials.shape[-2:]
    objects = np.zeros((*leading, _object_rows((width, height)), columns), dtype=np.int64)
    objects[..., :used, :] = world.objects
    return World._make(np.array(array, order="C") for array in world)._replace(objects=objects)


def allocate_views(num_envs: int, n: int, *, seen: bool, choices: int) -> Views:
    """Allocate arrays for the agents' observations, uninitialised.

    Args:
        num_envs: Number of worlds.
        n: Agents in each world.
        seen: Whether to store the cells around the agents.
        choices: Length of an agent's mask; 0: masks are not stored.
    """
    columns, rows = VIEW if seen else (0, 0)
    return Views(
        np.empty((num_envs, n, columns, rows), dtype=np.uint8),
        np.empty((num_envs, n, columns, rows), dtype=np.uint8),
        np.empty((num_envs, n, POSE_COLUMNS), dtype=np.int64),
        np.empty((num_envs, n, 1), dtype=np.float32),
        np.empty((num_envs, n, choices), dtype=np.int8),
    )


def allocate_ends(num_envs: int, n: int) -> Ends:
    """Allocate arrays for rewards and ends, all zero."""
    shape = (num_envs, n)
    return Ends(np.zeros(shape), np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_))

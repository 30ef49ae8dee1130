"""The state as a central critic reads it: one vector a world, with what and who is where, and what everybody has."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Dict

from crafter_env.constants import NEED_MAX, NEEDS, Entity, Material
from crafter_env.kernels import arrays
from crafter_env.kernels.arrays import ACHIEVEMENTS, ITEMS, World
from crafter_env.kernels.daylight import daylight
from crafter_env.kernels.living import RIPE_AGE

StateArray = npt.NDArray[np.float32]

_BODY = 6


def state_parts(size: tuple[int, int], n: int, item_cap: int, max_steps: int) -> Dict:
    """The parts of a state; `gymnasium.spaces.unflatten(parts, state)` takes one apart.

    In their order: `agents`, (n, 44): alive, x, y, facing x, facing y, sleeping, amounts of the 16 items with the
    needs first, and 1 for each of the 22 achievements reached; `clock`, (2,): steps taken and daylight; `entities` and
    `materials`, (W, H), by `Entity` and `Material`. The agent of a row stands where its x and y say.
    """
    width, height = size
    amounts = np.full(ITEMS, item_cap)
    amounts[: len(NEEDS)] = NEED_MAX
    unlocked = np.ones(ACHIEVEMENTS)
    low = np.concatenate([[0, 0, 0, -1, -1, 0], np.zeros(ITEMS + ACHIEVEMENTS)])
    high = np.concatenate([[1, width - 1, height - 1, 1, 1, 1], amounts, unlocked])
    return Dict(
        {
            "agents": _box(np.tile(low, (n, 1)), np.tile(high, (n, 1))),
            "clock": _box(np.zeros(2), np.array([max_steps, 1.0])),
            "entities": _box(np.zeros(size), np.full(size, max(Entity))),
            "materials": _box(np.zeros(size), np.full(size, max(Material))),
        }
    )


def central_states(worlds: World) -> StateArray:
    """The states of a batch of worlds, float32 (B, S), an array of the caller's own; S as `state_parts` says."""
    num_envs, n = worlds.agents.shape[:2]
    agents = np.zeros((num_envs, n, _BODY + ITEMS + ACHIEVEMENTS), dtype=np.float32)
    agents[..., 0] = worlds.agents[..., arrays.ALIVE]
    agents[..., 1:3] = worlds.objects[:, :n, arrays.X : arrays.Y + 1]
    agents[..., 3:5] = worlds.agents[..., arrays.FACING_X : arrays.FACING_Y + 1]
    agents[..., 5] = worlds.agents[..., arrays.SLEEPING]
    agents[..., _BODY : _BODY + ITEMS] = worlds.agents[..., arrays.INVENTORY : arrays.ACHIEVED]
    agents[..., _BODY + ITEMS :] = worlds.agents[..., arrays.ACHIEVED : arrays.GAINED] > 0
    steps = worlds.counters[:, arrays.STEP]
    clock = np.column_stack([steps, [daylight(step) for step in steps.tolist()]])
    parts = agents, clock, _entities(worlds), worlds.materials
    return np.concatenate([part.reshape(num_envs, -1) for part in parts], axis=1, dtype=np.float32)


def _entities(worlds: World) -> npt.NDArray[np.int64]:
    """What stands on each cell, (B, W, H), by `Entity`."""
    slots = worlds.occupants.astype(np.int64) - 1
    number = np.arange(len(slots))[:, None, None]
    kinds = worlds.objects[number, slots, arrays.KIND]
    ripe = (kinds == Entity.plant) & (worlds.objects[number, slots, arrays.TIMER] > RIPE_AGE)
    found: npt.NDArray[np.int64] = np.where(slots < 0, Entity.none, np.where(ripe, Entity.ripe_plant, kinds))
    return found


def _box(low: npt.NDArray[np.float64], high: npt.NDArray[np.float64]) -> Box:
    return Box(low.astype(np.float32), high.astype(np.float32), dtype=np.float32)

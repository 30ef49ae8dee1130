"""The spaces of observations and actions."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import Space
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete

from crafter_env.constants import NEED_MAX, NEEDS, VIEW, Action, Entity, Item, Material
from crafter_env.kernels.arrays import ACTION_COLUMNS, ITEMS, POSE_COLUMNS
from crafter_env.profiles import Profile

OBSERVATIONS = ("symbolic", "pixels", "both")


def observation_space(kind: str, profile: Profile, size: tuple[int, int], pixels: int) -> Dict:
    """The space of an agent's observation.

    Args:
        kind: One of `OBSERVATIONS`.
        profile: Its item cap bounds the inventory.
        size: Columns and rows of the map.
        pixels: Along an edge of a picture.
    """
    spaces: dict[str, Space[Any]] = {}
    if kind != "pixels":
        width, height = size
        cap = np.full(ITEMS, profile.item_cap, dtype=np.int64)
        cap[: len(NEEDS)] = NEED_MAX
        low = np.array([0, 0, -1, -1, 0], dtype=np.int64)
        high = np.array([width - 1, height - 1, 1, 1, 1], dtype=np.int64)
        assert len(low) == POSE_COLUMNS
        spaces["materials"] = Box(0, int(max(Material)), VIEW, dtype=np.uint8)
        spaces["entities"] = Box(0, int(max(Entity)), VIEW, dtype=np.uint8)
        spaces["inventory"] = Box(np.zeros_like(cap), cap, dtype=np.int64)
        spaces["pose"] = Box(low, high, dtype=np.int64)
        spaces["daylight"] = Box(0.0, 1.0, (1,), dtype=np.float32)
    if kind != "symbolic":
        spaces["pixels"] = Box(0, 255, (pixels, pixels, 3), dtype=np.uint8)
    return Dict(spaces)


def action_space(profile: Profile, n: int) -> Discrete | MultiDiscrete:
    """The space of an agent's actions: primitives, and where there is sharing recipient, item and quantity beside."""
    if not profile.sharing:
        return Discrete(int(Action.share))
    space = MultiDiscrete(_choices(profile, n), start=[0, 0, 0, 1])
    assert space.shape == (ACTION_COLUMNS,)
    return space


def mask_length(profile: Profile, n: int) -> int:
    """The length of an agent's action mask: the choices of its action space, one number after the other."""
    return sum(_choices(profile, n)) if profile.sharing else int(Action.share)


def _choices(profile: Profile, n: int) -> list[int]:
    return [len(Action), n, len(Item), max(profile.item_cap, NEED_MAX)]

"""An agent's choice as one number, also where there is sharing.

Numbers below 17 are the primitives. Behind them stands `17 + 15 * recipient + (item - 1)`: one unit of an item, any but
health, to a teammate.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crafter_env.constants import NEED_MAX, NEEDS, Action, Item
from crafter_env.kernels import arrays
from crafter_env.kernels.arrays import ACTION_COLUMNS, IntArray, MaskArray, World
from crafter_env.profiles import Profile

PRIMITIVES = int(Action.share)
_ITEMS = len(Item) - 1
"""All but health, the first."""


def flat_choices(profile: Profile, n: int) -> int:
    """How many choices an agent has."""
    return PRIMITIVES + (n * _ITEMS if profile.sharing else 0)


def read_flat(choices: IntArray) -> IntArray:
    """Flat choices, shape (...), as the four numbers of actions, (..., 4)."""
    actions = np.zeros((*choices.shape, ACTION_COLUMNS), dtype=np.int64)
    shares = choices >= PRIMITIVES
    recipients, items = np.divmod(choices - PRIMITIVES, _ITEMS)
    actions[..., 0] = np.where(shares, Action.share, choices)
    actions[..., 1] = np.where(shares, recipients, 0)
    actions[..., 2] = np.where(shares, items + 1, 0)
    actions[..., 3] = shares
    return actions


def flat_masks(worlds: World, profile: Profile, masks: MaskArray) -> MaskArray:
    """Which flat choices each agent has, int8 (B, n, 17 + 15 n), or (B, n, 17) without sharing.

    Args:
        worlds: A batch of B.
        profile: Its rules.
        masks: Those of the world's own actions, (B, n, A).
    """
    if not profile.sharing:
        return masks
    num_envs, n = worlds.agents.shape[:2]
    cap = np.full(_ITEMS, profile.item_cap)
    cap[: len(NEEDS) - 1] = NEED_MAX
    bags = worlds.agents[..., arrays.INVENTORY + 1 : arrays.ACHIEVED]
    cells = worlds.objects[:, :n, arrays.X : arrays.Y + 1]
    apart = np.abs(cells[:, :, None] - cells[:, None]).sum(axis=-1)
    reached: npt.NDArray[np.bool_] = (worlds.agents[..., arrays.ALIVE] > 0)[:, None] & ~np.eye(n, dtype=np.bool_)
    if profile.share_radius is not None:
        reached = reached & (apart <= profile.share_radius)
    reached = reached & (masks[..., Action.share] > 0)[..., None]
    shares = reached[..., None] & (bags > 0)[:, :, None] & (bags < cap)[:, None]
    return np.concatenate([masks[..., :PRIMITIVES], shares.reshape(num_envs, n, -1)], axis=-1, dtype=np.int8)

"""The spaces of observations and actions, the flat numbering of actions, and the checks of joint actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import Space
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete

from crafter_env.constants import NEED_MAX, NEEDS, VIEW, Action, Entity, Item, Material
from crafter_env.kernels import arrays
from crafter_env.kernels.arrays import ACTION_COLUMNS, ITEMS, POSE_COLUMNS, IntArray, MaskArray, World
from crafter_env.profiles import Profile
from quorum_base.environments.actions import in_order, in_range, integers, number
from quorum_base.environments.errors import ActionError
from quorum_base.environments.spaces import MaskedMultiDiscrete

OBSERVATIONS = ("symbolic", "pixels", "both")


def observation_space(kind: str, profile: Profile, size: tuple[int, int], pixels: int) -> Dict:
    """Return the space of an agent's observation.

    Args:
        kind: A kind in `OBSERVATIONS`.
        profile: The profile, whose item cap bounds the inventory.
        size: Columns and rows of the map.
        pixels: Edge length of a picture.
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
    """Return the space of an agent's actions: primitives and, with sharing, also recipient, item and quantity."""
    if not profile.sharing:
        return Discrete(int(Action.share))
    space = MaskedMultiDiscrete(_choices(profile, n), start=[0, 0, 0, 1])
    assert space.shape == (ACTION_COLUMNS,)
    return space


def mask_length(profile: Profile, n: int) -> int:
    """Return the length of an agent's action mask: the choices of its action space, one number after the other."""
    return sum(_choices(profile, n)) if profile.sharing else int(Action.share)


def _choices(profile: Profile, n: int) -> list[int]:
    return [len(Action), n, len(Item), max(profile.item_cap, NEED_MAX)]


PRIMITIVES = int(Action.share)
_ITEMS = len(Item) - 1
"""All needs but health, which is the first."""


def flat_choices(profile: Profile, n: int) -> int:
    """Return the number of choices of an agent."""
    return PRIMITIVES + (n * _ITEMS if profile.sharing else 0)


def read_flat(choices: IntArray) -> IntArray:
    """Convert flat choices, shape (...), into the four numbers of actions, (..., 4)."""
    actions = np.zeros((*choices.shape, ACTION_COLUMNS), dtype=np.int64)
    shares = choices >= PRIMITIVES
    recipients, items = np.divmod(choices - PRIMITIVES, _ITEMS)
    actions[..., 0] = np.where(shares, Action.share, choices)
    actions[..., 1] = np.where(shares, recipients, 0)
    actions[..., 2] = np.where(shares, items + 1, 0)
    actions[..., 3] = shares
    return actions


def flat_masks(worlds: World, profile: Profile, masks: MaskArray) -> MaskArray:
    """Return the available flat choices of each agent, int8 (B, n, 17 + 15 n), or (B, n, 17) without sharing.

    Args:
        worlds: A batch of B.
        profile: Its rules.
        masks: The masks of the world's own actions, (B, n, A).
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


AgentAction = int | Sequence[int] | npt.NDArray[np.integer]
"""A primitive, or four numbers: the primitive, then recipient, item and quantity, used only by `share`."""


_LARGEST = 2**63 - 1
_NAMES = tuple(action.name for action in Action)


def share(recipient: int, item: Item, quantity: int = 1) -> tuple[int, int, int, int]:
    """Build the action that gives a teammate some of an item.

    Args:
        recipient: Index of the receiving agent.
        item: Any item but health.
        quantity: Units, at least 1; units that are not held or do not fit stay with the giver.
    """
    return int(Action.share), recipient, int(item), quantity


def read_actions(actions: Mapping[str, AgentAction], names: Mapping[str, int], living: Sequence[str]) -> IntArray:
    """Return the actions of the living agents, shape (1, n, 4); actions of dead agents are ignored.

    Args:
        actions: Actions by name.
        names: Index of each agent.
        living: Names of the living agents.

    Raises:
        ActionError: A living agent has no valid action, or a name is unknown; the message names the agent.
    """
    if isinstance(actions, Mapping) and len(living) < len(names):
        actions = {name: action for name, action in actions.items() if name in living or name not in names}
    joint = np.zeros((1, len(names), ACTION_COLUMNS), dtype=np.int64)
    for name, action in zip(living, in_order(actions, living), strict=True):
        agent, primitive = names[name], action
        if np.ndim(action) > 0:
            primitive, *joint[0, agent, 1:] = _four(name, action)
        joint[0, agent, 0] = number(name, primitive, _NAMES)
    return joint


def check_actions(actions: npt.ArrayLike, leading: tuple[int, int]) -> IntArray:
    """Return the actions of all agents as an array of shape (B, n, 4).

    Args:
        actions: Integers, of shape (B, n) or (B, n, 4).
        leading: B and n.

    Raises:
        ActionError: The shape or type is wrong, or an action is not an `Action`; the message names the agent.
    """
    joint = integers(actions, leading, (*leading, ACTION_COLUMNS))
    if joint.ndim == len(leading):
        full = np.zeros((*leading, ACTION_COLUMNS), dtype=np.int64)
        full[..., 0] = joint
    else:
        full = joint
    in_range(full[..., 0], _NAMES)
    return full


def check_choices(choices: npt.ArrayLike, shape: tuple[int, int], number: int) -> IntArray:
    """Convert the flat choices of teams into four numbers each, (B, n, 4); see `crafter_env.spaces`.

    Args:
        choices: Integers in `0 .. number - 1`.
        shape: B and n.
        number: Number of choices.

    Raises:
        ActionError: The shape, type or range is wrong; the message names the agent.
    """
    return read_flat(in_range(integers(choices, shape), number))


def _four(name: str, action: AgentAction) -> list[int]:
    try:
        numbers = [index(number) for number in action]  # type: ignore[union-attr]
    except TypeError:
        numbers = []
    if len(numbers) != ACTION_COLUMNS or not all(-_LARGEST <= number <= _LARGEST for number in numbers):
        raise ActionError(
            f"{name}: action {action!r} is neither an integer nor four integers (action, recipient, item, quantity)"
        )
    return numbers

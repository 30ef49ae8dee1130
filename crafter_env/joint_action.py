"""From what a caller gives as a joint action to the array that the kernel takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index

import numpy as np
import numpy.typing as npt

from crafter_env.constants import Action, Item
from crafter_env.flat import read_flat
from crafter_env.kernels.arrays import ACTION_COLUMNS, IntArray
from maeil.environments.actions import in_order, in_range, integers, number
from maeil.environments.errors import ActionError

AgentAction = int | Sequence[int] | npt.NDArray[np.integer]
"""A primitive; or four numbers: the primitive, and recipient, item and quantity, which count when it is `share`."""


_LARGEST = 2**63 - 1
_NAMES = tuple(action.name for action in Action)


def share(recipient: int, item: Item, quantity: int = 1) -> tuple[int, int, int, int]:
    """The action that gives a teammate some of an item.

    Args:
        recipient: Index of the agent that gets it.
        item: Anything but health.
        quantity: Units, at least 1; what is not held or finds no room stays.
    """
    return int(Action.share), recipient, int(item), quantity


def read_actions(actions: Mapping[str, AgentAction], names: Mapping[str, int], living: Sequence[str]) -> IntArray:
    """The actions of the living agents, shape (1, n, 4); those of the dead are not read.

    Args:
        actions: By name.
        names: Index of each agent.
        living: Those that act.

    Raises:
        ActionError: Not an action for each of the living, or for an agent that does not exist; the message says whose.
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
    """The actions of all agents as an array of shape (B, n, 4).

    Args:
        actions: Integers, of shape (B, n) or (B, n, 4).
        leading: B and n.

    Raises:
        ActionError: They are not that, or an action is none of `Action`; the message says whose.
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
    """The flat choices of teams as four numbers each, (B, n, 4); see `crafter_env.flat`.

    Args:
        choices: Integers in `0 .. number - 1`.
        shape: B and n.
        number: Of choices.

    Raises:
        ActionError: They are not that; the message says whose.
    """
    return read_flat(in_range(integers(choices, shape), number))


def _four(name: str, action: AgentAction) -> list[int]:
    try:
        numbers = [index(number) for number in action]  # type: ignore[union-attr]
    except TypeError:
        numbers = []
    if len(numbers) != ACTION_COLUMNS or not all(-_LARGEST <= number <= _LARGEST for number in numbers):
        raise ActionError(
            f"{name}: action {action!r} is neither an integer nor four of them (action, recipient, item, quantity)"
        )
    return numbers

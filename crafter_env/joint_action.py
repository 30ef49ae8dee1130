"""From what a caller gives as a joint action to the array that the kernel takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index

import numpy as np
import numpy.typing as npt

from crafter_env.arrays import ACTION_COLUMNS, IntArray
from crafter_env.constants import Action, Item
from crafter_env.errors import ActionError

AgentAction = int | Sequence[int] | npt.NDArray[np.integer]
"""A primitive; or four numbers: the primitive, and recipient, item and quantity, which count when it is `share`."""


def share(recipient: int, item: Item, quantity: int = 1) -> tuple[int, int, int, int]:
    """The action that gives a teammate some of an item.

    Args:
        recipient: Index of the agent that gets it.
        item: Anything but health.
        quantity: Units, at least 1; what is not held or finds no room stays.
    """
    return int(Action.share), recipient, int(item), quantity


def read_actions(actions: Mapping[str, AgentAction], names: Mapping[str, int], living: Sequence[str]) -> IntArray:
    """The actions of the living agents, shape (1, n, 4); the kernel checks their range.

    Args:
        actions: By name.
        names: Index of each agent.
        living: Those that act.

    Raises:
        ActionError: Not an action for each of the living; the message says whose.
    """
    joint = np.zeros((1, len(names), ACTION_COLUMNS), dtype=np.int64)
    for name in living:
        if name not in actions:
            raise ActionError(f"no action for {name}: a step takes one for every living agent (0 is noop)")
        action = actions[name]
        try:
            joint[0, names[name], 0] = index(action)  # type: ignore[arg-type]
        except TypeError:
            joint[0, names[name]] = _four(name, action)
    if len(actions) != len(living):
        unknown = next(name for name in actions if name not in living)
        dead = "is dead or the episode is over for it" if unknown in names else "is no agent"
        raise ActionError(f"action for {unknown}, which {dead}: the agents are {', '.join(living)}")
    return joint


def check_actions(actions: npt.ArrayLike, leading: tuple[int, ...]) -> IntArray:
    """The actions of all agents as an array of shape (..., n, 4); the kernel checks their range.

    Args:
        actions: Integers, of shape (..., n) or (..., n, 4).
        leading: Shape (..., n).

    Raises:
        ActionError: They are not that.
    """
    joint = np.asarray(actions)
    if joint.dtype.kind in "iu" and joint.shape == leading:
        padded = np.zeros((*leading, ACTION_COLUMNS), dtype=np.int64)
        padded[..., 0] = joint
        return padded
    if joint.dtype.kind in "iu" and joint.shape == (*leading, ACTION_COLUMNS):
        return np.ascontiguousarray(joint, dtype=np.int64)
    raise ActionError(
        f"actions of shape {joint.shape} and type {joint.dtype}: give integers of shape {leading}, "
        f"or {(*leading, ACTION_COLUMNS)} with recipient, item and quantity of a share"
    )


def wrong_action(name: str, action: IntArray, n: int, *, sharing: bool) -> ActionError:
    """The error of an action out of range."""
    choices = ", ".join(f"{choice.value} {choice.name}" for choice in Action if sharing or choice != Action.share)
    primitive, recipient, item, quantity = action.tolist()
    if primitive == Action.share and sharing:
        return ActionError(
            f"{name}: share takes a recipient from 0 to {n - 1}, an item from 0 to {len(Item) - 1} and a quantity of "
            f"at least 1; it was given {recipient}, {item} and {quantity}"
        )
    return ActionError(f"{name}: action {primitive} is none of {choices}")


def _four(name: str, action: AgentAction) -> list[int]:
    try:
        numbers = [index(number) for number in action]  # type: ignore[union-attr]
    except TypeError:
        numbers = []
    if len(numbers) != ACTION_COLUMNS:
        raise ActionError(
            f"{name}: action {action!r} is neither an integer nor four of them (action, recipient, item, quantity)"
        )
    return numbers

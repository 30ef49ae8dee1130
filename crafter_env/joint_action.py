"""From what a caller gives as a joint action to the array that the kernel takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index

import numpy as np
import numpy.typing as npt

from crafter_env.constants import Action, Item
from crafter_env.errors import ActionError
from crafter_env.flat import read_flat
from crafter_env.kernels.arrays import ACTION_COLUMNS, IntArray

AgentAction = int | Sequence[int] | npt.NDArray[np.integer]
"""A primitive; or four numbers: the primitive, and recipient, item and quantity, which count when it is `share`."""


_LARGEST = 2**63 - 1


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
    if not isinstance(actions, dict | Mapping):
        raise ActionError(
            f"actions are a {type(actions).__name__}: give a dictionary, the name of an agent to its action"
        )
    joint = np.zeros((1, len(names), ACTION_COLUMNS), dtype=np.int64)
    for name in living:
        if name not in actions:
            raise ActionError(f"no action for {name}: a step takes one for every living agent (0 is noop)")
        action = actions[name]
        agent = names[name]
        try:
            primitive = index(action)  # type: ignore[arg-type]
        except TypeError:
            primitive, *share_of = _four(name, action)
            joint[0, agent, 1:] = share_of
        if not 0 <= primitive < len(Action):
            raise _wrong(name, primitive)
        joint[0, agent, 0] = primitive
    for name in actions:
        if name not in names:
            raise ActionError(f"action for {name}, which is no agent: the agents are {', '.join(names)}")
    return joint


def check_actions(actions: npt.ArrayLike, leading: tuple[int, int]) -> IntArray:
    """The actions of all agents as an array of shape (B, n, 4).

    Args:
        actions: Integers, of shape (B, n) or (B, n, 4).
        leading: B and n.

    Raises:
        ActionError: They are not that, or an action is none of `Action`; the message says whose.
    """
    try:
        joint = np.asarray(actions)
    except ValueError:
        raise ActionError(f"actions of unequal lengths: give integers of shape {leading}") from None
    if joint.dtype.kind not in "iu" or joint.shape not in (leading, (*leading, ACTION_COLUMNS)):
        raise ActionError(
            f"actions of shape {joint.shape} and type {joint.dtype}: give integers of shape {leading}, "
            f"or {(*leading, ACTION_COLUMNS)} with recipient, item and quantity of a share"
        )
    if joint.ndim == len(leading):
        full = np.zeros((*leading, ACTION_COLUMNS), dtype=np.int64)
        full[..., 0] = joint
    else:
        full = np.ascontiguousarray(joint, dtype=np.int64)
    primitives = full[..., 0]
    if primitives.view(np.uint64).max() >= len(Action):  # negative numbers are the largest of all
        world, agent = np.argwhere((primitives < 0) | (primitives >= len(Action)))[0].tolist()
        raise _wrong(f"world {world}, agent {agent}", int(primitives[world, agent]))
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
    try:
        joint = np.asarray(choices)
    except ValueError:
        raise ActionError(f"actions of unequal lengths: give integers of shape {shape}") from None
    if joint.dtype.kind not in "iu" or joint.shape != shape:
        raise ActionError(f"actions of shape {joint.shape} and type {joint.dtype}: give integers of shape {shape}")
    wrong = np.argwhere((joint < 0) | (joint >= number))
    if len(wrong):
        world, agent = wrong[0].tolist()
        raise ActionError(f"world {world}, agent {agent}: action {joint[world, agent]} is none of 0 to {number - 1}")
    return read_flat(joint.astype(np.int64))


def _wrong(whose: str, primitive: int) -> ActionError:
    choices = ", ".join(f"{choice.value} {choice.name}" for choice in Action)
    return ActionError(f"{whose}: action {primitive} is none of {choices}")


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

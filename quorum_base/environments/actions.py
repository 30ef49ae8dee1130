"""Checks of joint actions: one integer for each agent. Values are never rounded or clipped."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from quorum_base.environments.errors import ActionError

IntArray = npt.NDArray[np.int64]


def in_order(actions: Mapping[str, Any], names: Collection[str]) -> list[Any]:
    """Return the actions of the agents, in the order of `names`.

    Raises:
        ActionError: An agent has no action, or an action belongs to no agent.
    """
    if not isinstance(actions, Mapping):
        raise ActionError(f"the actions are a {type(actions).__name__}: give a dictionary of one action for each agent")
    try:
        found = [actions[name] for name in names]
    except KeyError:
        missing = [name for name in names if name not in actions]
        raise ActionError(f"no action for {_some(missing)}: a step needs one for every agent") from None
    if len(actions) != len(names):
        unknown = [name for name in actions if name not in names]
        raise ActionError(f"action for {_some(unknown)}: the agents are {_some(names)}")
    return found


def numbers(actions: Mapping[str, Any], names: Collection[str], choices: Collection[str] | int) -> list[int]:
    """Return the actions of the agents as integers, in the order of `names`.

    Args:
        actions: One for each agent, by name.
        names: Names of the agents.
        choices: Names of the actions by number, or the number of actions.

    Raises:
        ActionError: An action is missing, unknown or invalid; the message names the agent.
    """
    found = in_order(actions, names)
    return [number(name, action, choices) for name, action in zip(names, found, strict=True)]


def number(who: str, action: object, choices: Collection[str] | int) -> int:
    """Return one action as an integer. For `choices` see `numbers`.

    Raises:
        ActionError: The action is not one of the choices.
    """
    try:
        found = index(action)  # type: ignore[arg-type] # the error below rejects what is not an integer
    except TypeError:
        found = -1
    if not 0 <= found < (choices if isinstance(choices, int) else len(choices)):
        raise wrong_action(who, action, choices)
    return found


def wrong_action(who: str, action: object, choices: Collection[str] | int) -> ActionError:
    """Return the error for an action that is not one of the choices. For `choices` see `numbers`."""
    listed = f"0 to {choices - 1}" if isinstance(choices, int) else ", ".join(f"{i} {c}" for i, c in enumerate(choices))
    return ActionError(f"{who}: action {action!r} is none of {listed}")


def integers(actions: npt.ArrayLike, *shapes: tuple[int, ...]) -> IntArray:
    """Return the actions as a contiguous array of one of these shapes, without copying a contiguous int64 array.

    Raises:
        ActionError: The actions are not integers, or have another shape.
    """
    try:
        joint = np.asarray(actions)
    except ValueError:
        raise _wrong_shape("unequal lengths", shapes) from None
    if joint.shape not in shapes or joint.dtype.kind not in "iu":
        raise _wrong_shape(f"shape {joint.shape} and type {joint.dtype}", shapes)
    return np.ascontiguousarray(joint, dtype=np.int64)


def _wrong_shape(found: str, shapes: Iterable[tuple[int, ...]]) -> ActionError:
    return ActionError(f"actions of {found}: give integers of shape {' or '.join(map(str, shapes))}")


def in_range(joint: IntArray, choices: Collection[str] | int) -> IntArray:
    """Return the actions, `(n,)` or `(num_envs, n)`, after checking that all are among the choices.

    Raises:
        ActionError: One is not; the message names the world and the agent.
    """
    count = choices if isinstance(choices, int) else len(choices)
    if joint.size and joint.view(np.uint64).max() >= count:  # read as unsigned, negative numbers are the largest
        *world, agent = np.argwhere((joint < 0) | (joint >= count))[0].tolist()
        where = "".join(f"world {number}, " for number in world)
        raise wrong_action(f"{where}agent_{agent}", int(joint[(*world, agent)]), choices)
    return joint


def _some(names: Iterable[object]) -> str:
    """The first three names, and the number of others."""
    listed = list(map(str, names))
    more = f" and {len(listed) - 3} more" if len(listed) > 3 else ""
    return ", ".join(listed[:3]) + more

"""Checks of joint actions: integers, one for each agent. Nothing is rounded or cut to fit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from quorum_base.environments.errors import ActionError

IntArray = npt.NDArray[np.int64]


def in_order(actions: Mapping[str, Any], names: Collection[str]) -> list[Any]:
    """Return the actions of the agents, in the order of their names.

    Raises:
        ActionError: An agent has none, or an action is of no agent.
    """
    if not isinstance(actions, Mapping):
        raise ActionError(f"the actions are a {type(actions).__name__}: give a dictionary of one action for each agent")
    try:
        found = [actions[name] for name in names]
    except KeyError:
        missing = [name for name in names if name not in actions]
        raise ActionError(f"no action for {_some(missing)}: a step takes one for every agent") from None
    if len(actions) != len(names):
        unknown = [name for name in actions if name not in names]
        raise ActionError(f"action for {_some(unknown)}: the agents are {_some(names)}")
    return found


def numbers(actions: Mapping[str, Any], names: Collection[str], choices: Collection[str] | int) -> list[int]:
    """Return the actions of the agents as integers, in the order of their names.

    Args:
        actions: One for each agent, by name.
        names: Names of the agents.
        choices: Names of the actions by number, or how many there are.

    Raises:
        ActionError: They are not that; the message names the agent.
    """
    found = in_order(actions, names)
    return [number(name, action, choices) for name, action in zip(names, found, strict=True)]


def number(who: str, action: object, choices: Collection[str] | int) -> int:
    """Return one action as an integer; arguments as of `numbers`.

    Raises:
        ActionError: It is none of the choices.
    """
    try:
        found = index(action)  # type: ignore[arg-type] # an action without an index is refused below
    except TypeError:
        found = -1
    if not 0 <= found < (choices if isinstance(choices, int) else len(choices)):
        raise wrong_action(who, action, choices)
    return found


def wrong_action(who: str, action: object, choices: Collection[str] | int) -> ActionError:
    """Return the error of an action that is none of the choices; arguments as of `numbers`."""
    listed = f"0 to {choices - 1}" if isinstance(choices, int) else ", ".join(f"{i} {c}" for i, c in enumerate(choices))
    return ActionError(f"{who}: action {action!r} is none of {listed}")


def integers(actions: npt.ArrayLike, *shapes: tuple[int, ...]) -> IntArray:
    """Return the actions as a contiguous array of one of these shapes; an int64 array is not copied.

    Raises:
        ActionError: They are no integers of such a shape.
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
    """Return the actions of agents, `(n,)` or `(num_envs, n)`, if all are among the choices.

    Raises:
        ActionError: One is not; the message names its world and agent.
    """
    count = choices if isinstance(choices, int) else len(choices)
    if joint.size and joint.view(np.uint64).max() >= count:  # as unsigned numbers the negative ones are the largest
        *world, agent = np.argwhere((joint < 0) | (joint >= count))[0].tolist()
        where = "".join(f"world {number}, " for number in world)
        raise wrong_action(f"{where}agent_{agent}", int(joint[(*world, agent)]), choices)
    return joint


def _some(names: Iterable[object]) -> str:
    """The first few names, and how many more there are."""
    listed = list(map(str, names))
    more = f" and {len(listed) - 3} more" if len(listed) > 3 else ""
    return ", ".join(listed[:3]) + more

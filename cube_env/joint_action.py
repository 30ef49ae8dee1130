"""From what a caller gives as a joint action to the array that the kernel takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index

import numpy as np
import numpy.typing as npt

from cube_env.arrays import ActionArray
from cube_env.constants import Action
from cube_env.errors import ActionError


def read_actions(actions: Mapping[str, int], names: Mapping[str, object]) -> ActionArray:
    """The actions of the named agents, shape (n,), in the order of `names`; the kernel checks their range.

    Raises:
        ActionError: Not one integer for each of the names; the message says whose.
    """
    if not isinstance(actions, Mapping):
        raise ActionError(f"the actions are a {type(actions).__name__}: give a dictionary of one action for each agent")
    try:
        # The fastest way from any kind of integer to an array, and it takes no float.
        packed = bytes([actions[name] for name in names])
    except (KeyError, TypeError, ValueError):
        raise _explanation(actions, names) from None
    if len(actions) != len(names):
        raise _explanation(actions, names)
    return np.frombuffer(packed, dtype=np.uint8).astype(np.int64)


def check_actions(actions: npt.ArrayLike, shape: tuple[int, ...]) -> ActionArray:
    """The actions as an array of this shape; the kernel checks their range. An int64 array is not copied.

    Raises:
        ActionError: Not integers of this shape.
    """
    try:
        joint = np.asarray(actions)
    except ValueError as error:  # lists of different lengths
        raise ActionError(f"actions of no shape ({error}): give integers of shape {shape}") from None
    if joint.shape != shape or joint.dtype.kind not in "iu":
        wanted = f"{shape[0]} integers" if len(shape) == 1 else f"integers of shape {shape}"
        whose = "one for each agent" + (" of each world" if len(shape) > 1 else "")
        raise ActionError(f"actions of shape {joint.shape} and type {joint.dtype}: give {wanted}, {whose}")
    return np.ascontiguousarray(joint, dtype=np.int64)


def wrong_action(name: str, action: object) -> ActionError:
    """The error of an action out of range."""
    choices = ", ".join(f"{choice.value} {choice.name}" for choice in Action)
    return ActionError(f"{name}: action {action!r} is none of {choices}")


def _explanation(actions: Mapping[str, int], names: Mapping[str, object]) -> ActionError:
    missing = [name for name in names if name not in actions]
    if missing:
        return ActionError(f"no action for {_some(missing)}: a step takes one for every agent (0 is STAY)")
    unknown = [name for name in actions if name not in names]
    if unknown:
        return ActionError(f"action for {_some(unknown)}: the agents are {_some(list(names))}")
    return next(wrong_action(name, actions[name]) for name in names if not _is_action(actions[name]))


def _is_action(action: object) -> bool:
    try:
        return 0 <= index(action) < len(Action)  # type: ignore[arg-type]
    except TypeError:
        return False


def _some(names: Iterable[str]) -> str:
    """The first few names and how many more there are."""
    listed = list(names)
    more = f" and {len(listed) - 3} more" if len(listed) > 3 else ""
    return ", ".join(listed[:3]) + more

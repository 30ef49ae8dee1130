"""From what a caller gives as a joint action to integers; nothing is cut to fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index

import numpy as np
import numpy.typing as npt

from llamac_env.errors import ActionError


def read_actions(actions: Mapping[str, int], names: Sequence[str], choices: int) -> list[int]:
    """The actions of all agents, in the order of `names`.

    Args:
        actions: By name, in any order.
        names: Of all agents.
        choices: Number of actions that there are.

    Raises:
        ActionError: Not one action in `0 .. choices - 1` for every agent; the message says whose.
    """
    if not isinstance(actions, Mapping):
        raise ActionError(f"actions are a {type(actions).__name__}: give a dictionary of actions by the agents' names")
    if len(actions) != len(names) or not all(name in actions for name in names):
        known = set(names)
        wrong = [name for name in names if name not in actions] + [name for name in actions if name not in known]
        more = f" and {len(wrong) - 5} more" if len(wrong) > 5 else ""
        raise ActionError(f"one action for every agent: {', '.join(map(str, wrong[:5]))}{more} missing or unknown")
    return [_number(name, actions[name], choices) for name in names]


def check_actions(actions: npt.ArrayLike, shape: tuple[int, ...], choices: int) -> npt.NDArray[np.int64]:
    """The actions of a team, or of a batch of them, as an array.

    Args:
        actions: Integers in `0 .. choices - 1`.
        shape: `(n,)` or `(num_envs, n)`.
        choices: Number of actions that there are.

    Raises:
        ActionError: They are not that; the message says whose.
    """
    try:
        joint = np.asarray(actions)
    except ValueError:
        raise ActionError(f"actions of unequal lengths: give integers of shape {shape}") from None
    if joint.dtype.kind not in "iu" or joint.shape != shape:
        raise ActionError(f"actions of shape {joint.shape} and type {joint.dtype}: give integers of shape {shape}")
    wrong = np.argwhere((joint < 0) | (joint >= choices))
    if len(wrong):
        *world, agent = wrong[0].tolist()
        where = "".join(f"world {number}, " for number in world)
        raise ActionError(where + _no_action(f"agent_{agent}", int(joint[(*world, agent)]), choices))
    return np.ascontiguousarray(joint, dtype=np.int64)


def _number(name: str, action: object, choices: int) -> int:
    try:
        number = index(action)  # type: ignore[arg-type] # what has no index is refused below
    except TypeError:
        raise ActionError(_no_action(name, action, choices)) from None
    if not 0 <= number < choices:
        raise ActionError(_no_action(name, number, choices))
    return number


def _no_action(name: str, action: object, choices: int) -> str:
    return f"{name}: {action!r} is no action: they are 0 to {choices - 1}"

"""From what a caller gives as a joint action to the array that the kernel takes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cube_env.arrays import ActionArray
from cube_env.constants import Action
from maeil.environments import actions as checks
from maeil.environments.errors import ActionError

_NAMES = tuple(action.name for action in Action)


def read_actions(actions: Mapping[str, int], names: Mapping[str, object]) -> ActionArray:
    """The actions of the named agents, shape (n,), in the order of `names`; the kernel checks their range.

    Raises:
        ActionError: Not one integer for each of the names; the message says whose.
    """
    given = checks.in_order(actions, names)
    try:
        # The fastest way from any kind of integer to an array, and it takes no float.
        packed = bytes(given)
    except (TypeError, ValueError):
        packed = bytes(checks.numbers(actions, names, _NAMES))  # raises the error that names the agent
    return np.frombuffer(packed, dtype=np.uint8).astype(np.int64)


def wrong_action(who: str, action: object) -> ActionError:
    """The error of an action out of range."""
    return checks.wrong_action(who, action, _NAMES)

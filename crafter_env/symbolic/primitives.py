"""Primitives as the loop carries them: one integer an agent, also for a `share`.

A primitive below `len(Action)` is itself. A share is `len(Action) + (quantity x items + item) x n + recipient`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crafter_env.constants import Action, Item

_PLAIN = len(Action)
_ITEMS = len(Item)


def encode_share(recipient: int, item: Item, quantity: int, agents: int) -> int:
    """Write a share as one integer."""
    return _PLAIN + (quantity * _ITEMS + item) * agents + recipient


def decode(joint: Sequence[int], *, sharing: bool) -> npt.NDArray[np.int64]:
    """Read a joint action.

    Args:
        joint: one integer for each of n agents.
        sharing: whether the environment takes the numbers of a share.

    Returns:
        Integers, shape (n, 4) with sharing and (n,) without.
    """
    if not sharing:
        return np.array(joint, dtype=np.int64)
    agents = len(joint)
    actions = np.zeros((agents, 4), dtype=np.int64)
    if max(joint) < _PLAIN:
        actions[:, 0] = joint
        return actions
    for agent, code in enumerate(joint):
        if code < _PLAIN:
            actions[agent, 0] = code
        else:
            rest, recipient = divmod(code - _PLAIN, agents)
            quantity, item = divmod(rest, _ITEMS)
            actions[agent] = Action.share, recipient, item, quantity
    return actions

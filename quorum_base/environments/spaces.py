"""Spaces with action masks: of observations that hold one, and of actions that are sampled with one."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Dict, MultiDiscrete


def masked_observation(observation: Box, actions: int) -> Dict:
    """Return the space of an observation with an action mask, int8 `(actions,)`."""
    return Dict({"observation": observation, "action_mask": Box(0, 1, (actions,), dtype=np.int8)})


class MaskedMultiDiscrete(MultiDiscrete):
    """A one-dimensional `MultiDiscrete` that also accepts its mask as a single array.

    Gymnasium expects a tuple with one array per number; learners prefer one array, which they can stack.
    """

    def sample(self, mask: Any = None, probability: Any = None) -> npt.NDArray[Any]:
        """Sample an action.

        Args:
            mask: Int8 array with the choices of all numbers concatenated, `(sum(nvec),)`; or `(n, choices)` if all
                numbers have equally many choices; or Gymnasium's tuple.
            probability: Gymnasium's tuple of probabilities of the choices.
        """
        if isinstance(mask, np.ndarray):
            mask = tuple(np.split(mask.ravel(), np.cumsum(self.nvec)[:-1]))
        return super().sample(mask, probability)

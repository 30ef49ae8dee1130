"""Spaces of actions that sample by the masks that infos have."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import MultiDiscrete


class MaskedMultiDiscrete(MultiDiscrete):
    """A `MultiDiscrete` of one dimension that takes its mask as an array, too.

    Gymnasium's wants a tuple with an array for each number; learners want one array, which they can stack.
    """

    def sample(self, mask: Any = None, probability: Any = None) -> npt.NDArray[Any]:
        """Draw an action.

        Args:
            mask: Int8, the choices of one number after those of the other: `(sum(nvec),)`, or `(n, choices)` where all
                numbers have as many. Or Gymnasium's tuple.
            probability: Gymnasium's tuple of the probabilities of the choices.
        """
        if isinstance(mask, np.ndarray):
            mask = tuple(np.split(mask.ravel(), np.cumsum(self.nvec)[:-1]))
        return super().sample(mask, probability)

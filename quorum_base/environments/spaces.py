"""Action spaces that sample with the action masks from infos."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import MultiDiscrete


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

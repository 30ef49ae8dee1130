"""Every agent gets the team's reward."""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum
from typing import Literal

import numpy as np
import numpy.typing as npt
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]
from pettingzoo.utils import BaseParallelWrapper  # type: ignore[import-untyped]

from cube_env.arguments import one_of
from cube_env.wrappers.observing import Step


class TeamReward(BaseParallelWrapper[str, npt.NDArray[np.float32], int]):  # type: ignore[misc]
    """A `CubeEnv` in which every agent gets the mean, or the sum, of the team's rewards.

    CUBE shares its reward already, so the mean changes nothing; the sum is the undivided weight of the deliveries.

    Args:
        env: A `CubeEnv`, or a wrapper of one.
        reduce: `"mean"` or `"sum"`.

    Raises:
        CubeError: It is neither.
    """

    def __init__(self, env: ParallelEnv, reduce: Literal["mean", "sum"] = "mean") -> None:
        super().__init__(env)
        self.reduce = one_of("reduce", reduce, ("mean", "sum"))

    def step(self, actions: Mapping[str, int]) -> Step:
        """Advance by one joint action, as `CubeEnv.step` does."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        total = fsum(rewards.values())
        shared = total if self.reduce == "sum" else total / len(rewards)
        return observations, dict.fromkeys(rewards, shared), terminations, truncations, infos

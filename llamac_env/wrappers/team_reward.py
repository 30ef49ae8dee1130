"""Every agent gets the team's reward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pettingzoo import ParallelEnv  # type: ignore[import-untyped]
from pettingzoo.utils import BaseParallelWrapper  # type: ignore[import-untyped]

from llamac_env.arguments import one_of


class TeamReward(BaseParallelWrapper[str, Any, int]):  # type: ignore[misc]
    """An environment of this package in which every agent gets the mean, or the sum, of the team's rewards.

    Both worlds share their reward already, so the mean changes nothing; the sum is n times as much.

    Args:
        env: The environment, or a wrapper of one.
        reduce: `"mean"` or `"sum"`.

    Raises:
        LlamacError: It is neither.
    """

    def __init__(self, env: ParallelEnv, reduce: Literal["mean", "sum"] = "mean") -> None:
        super().__init__(env)
        self.reduce = one_of("reduce", reduce, ("mean", "sum"))

    def step(
        self, actions: Mapping[str, int]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Advance by one joint action, as the environment does."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        total = sum(rewards.values())
        shared = total if self.reduce == "sum" else total / len(rewards)
        return observations, dict.fromkeys(rewards, shared), terminations, truncations, infos

"""Every agent gets the team's reward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pettingzoo import ParallelEnv  # type: ignore[import-untyped]
from pettingzoo.utils import BaseParallelWrapper  # type: ignore[import-untyped]

from crafter_env.arguments import one_of
from crafter_env.wrappers.observing import Step


class TeamReward(BaseParallelWrapper[str, Any, Any]):  # type: ignore[misc]
    """A `CrafterEnv` in which every agent gets the mean, or the sum, of the team's rewards.

    The mean is over the whole team, the dead with 0: a death does not make what the others earn worth more.

    Args:
        env: A `CrafterEnv`, or a wrapper of one.
        reduce: `"mean"` or `"sum"`.

    Raises:
        CrafterError: It is neither.
    """

    def __init__(self, env: ParallelEnv, reduce: Literal["mean", "sum"] = "mean") -> None:
        super().__init__(env)
        one_of("reduce", reduce, ("mean", "sum"))
        self.reduce = reduce

    def step(self, actions: Mapping[str, Any]) -> Step:
        """Advance by one joint action, as `CrafterEnv.step` does."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        total = sum(rewards.values())
        shared = total if self.reduce == "sum" else total / len(self.possible_agents)
        return observations, dict.fromkeys(rewards, shared), terminations, truncations, infos

"""Each agent sees a flat vector; the mask of its actions is told in its info."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]
from pettingzoo.utils import BaseParallelWrapper  # type: ignore[import-untyped]

Vectors = dict[str, npt.NDArray[np.float32]]
Infos = dict[str, dict[str, Any]]


class FlatObservations(BaseParallelWrapper[str, npt.NDArray[np.float32], int]):  # type: ignore[misc]
    """An environment of this package in which each agent's observation is one flat vector.

    Observation: float32 `(F,)`, what stands under `observation` in the environment's own.
    Infos: with `action_mask`, which the observation has no place for.

    Args:
        env: The environment, or a wrapper of one.
    """

    def __init__(self, env: ParallelEnv) -> None:
        super().__init__(env)
        seen = env.observation_space(env.possible_agents[0])["observation"]
        space = Box(seen.low.ravel().astype(np.float32), seen.high.ravel().astype(np.float32), dtype=np.float32)
        self.observation_spaces = dict.fromkeys(env.possible_agents, space)

    def observation_space(self, agent: str) -> Box:
        """The space of an agent's observation, one object for all agents."""
        return self.observation_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Vectors, Infos]:
        """Begin an episode, as the environment does."""
        return _flat(*self.env.reset(seed=seed, options=options))

    def step(
        self, actions: Mapping[str, int]
    ) -> tuple[Vectors, dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """Advance by one joint action, as the environment does."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        vectors, told = _flat(observations, infos)
        return vectors, rewards, terminations, truncations, told


def _flat(observations: Mapping[str, Any], infos: Infos) -> tuple[Vectors, Infos]:
    vectors = {name: seen["observation"].astype(np.float32).ravel() for name, seen in observations.items()}
    return vectors, {name: {**info, "action_mask": observations[name]["action_mask"]} for name, info in infos.items()}

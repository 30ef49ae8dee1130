"""What the wrappers share that give other observations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]
from pettingzoo.utils import BaseParallelWrapper  # type: ignore[import-untyped]

Vectors = dict[str, npt.NDArray[np.float32]]
Infos = dict[str, dict[str, Any]]
Step = tuple[Any, dict[str, float], dict[str, bool], dict[str, bool], Infos]


class ObservingWrapper(BaseParallelWrapper[str, npt.NDArray[np.float32], Any], ABC):  # type: ignore[misc]
    """A `CrafterEnv`, or a wrapper of one, with other observations; all agents have the same space.

    Args:
        env: The environment.
        space: That of an agent's observation.
    """

    def __init__(self, env: ParallelEnv, space: Box) -> None:
        super().__init__(env)
        self.observation_spaces = dict.fromkeys(env.possible_agents, space)

    def observation_space(self, agent: str) -> Box:
        """The space of an agent's observation, one object for all agents."""
        return self.observation_spaces[agent]

    @abstractmethod
    def observe(self, observations: Mapping[str, Any]) -> Vectors:
        """What the agents are shown in place of their observations, by name."""

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Vectors, Infos]:
        """Begin an episode, as `CrafterEnv.reset` does."""
        observations, infos = self.env.reset(seed=seed, options=options)
        return self.observe(observations), infos

    def step(self, actions: Mapping[str, Any]) -> Step:
        """Advance by one joint action, as `CrafterEnv.step` does."""
        observations, *rest, infos = self.env.step(actions)
        rewards, terminations, truncations = rest
        return self.observe(observations), rewards, terminations, truncations, infos

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

Observations = dict[str, npt.NDArray[np.float32]]
Step = tuple[Observations, dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]


class ObservingWrapper(BaseParallelWrapper[str, npt.NDArray[np.float32], int], ABC):  # type: ignore[misc]
    """A `CubeEnv`, or a wrapper of one, with other observations; all agents have the same space.

    Args:
        env: The environment. Make it with `copy=False`: what it observes is not used.
        space: That of an agent's observation.
    """

    def __init__(self, env: ParallelEnv, space: Box) -> None:
        super().__init__(env)
        self.observation_spaces = dict.fromkeys(env.possible_agents, space)

    def observation_space(self, agent: str) -> Box:
        """The space of an agent's observation, one object for all agents."""
        return self.observation_spaces[agent]

    @abstractmethod
    def observe(self) -> npt.NDArray[np.float32]:
        """The observations of all agents, by index."""

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observations, dict[str, dict[str, Any]]]:
        """Begin an episode, as `CubeEnv.reset` does."""
        _, infos = self.env.reset(seed=seed, options=options)
        return self._by_agent(), infos

    def step(self, actions: Mapping[str, int]) -> Step:
        """Advance by one joint action, as `CubeEnv.step` does."""
        _, rewards, terminations, truncations, infos = self.env.step(actions)
        return self._by_agent(), rewards, terminations, truncations, infos

    def _by_agent(self) -> Observations:
        return dict(zip(self.possible_agents, self.observe(), strict=True))

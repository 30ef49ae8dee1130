"""Each agent sees a flat vector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from gymnasium.spaces import Box, flatten, flatten_space
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]

from crafter_env.wrappers.observing import ObservingWrapper, Vectors


class FlatObservations(ObservingWrapper):
    """A `CrafterEnv` in which each agent's observation is one flat vector.

    Observation: float32 `(F,)`, the parts of the observation as `gymnasium.spaces.flatten` puts them. Materials and
        entities are numbers there; around `Egocentric` they are planes of zeros and ones, which are learnt from better.

    Args:
        env: A `CrafterEnv`, or a wrapper of one.
    """

    def __init__(self, env: ParallelEnv) -> None:
        self._parts = env.observation_space(env.possible_agents[0])
        flat = cast(Box, flatten_space(self._parts))
        super().__init__(env, Box(flat.low.astype(np.float32), flat.high.astype(np.float32), dtype=np.float32))

    def observe(self, observations: Mapping[str, Any]) -> Vectors:
        """The flat vectors of the agents, by name."""
        return {
            name: np.asarray(flatten(self._parts, observation), dtype=np.float32)
            for name, observation in observations.items()
        }

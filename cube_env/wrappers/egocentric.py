"""Each agent sees a window around itself."""

from __future__ import annotations

import numpy as np
from gymnasium.spaces import Box
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]

from cube_env.arguments import whole
from cube_env.arrays import ChannelArray
from cube_env.views import WINDOW_CHANNELS, egocentric_observations
from cube_env.wrappers.observing import ObservingWrapper


class Egocentric(ObservingWrapper):
    """A `CubeEnv` in which each agent sees a window around itself, and itself in the middle.

    Observation: float32 `(2 radius + 1, 2 radius + 1, 6)`: see `egocentric_observations`. `state()` stays whole.

    Args:
        env: A `CubeEnv`, or a wrapper of one. Make it with `copy=False`: what it observes is not used.
        radius: Cells that the agent sees to each side.

    Raises:
        CubeError: The radius is not an integer from 0.
    """

    def __init__(self, env: ParallelEnv, radius: int = 5) -> None:
        self.radius = whole("radius", radius, 0)
        side, n = env.side, len(env.possible_agents)
        high = np.empty((2 * self.radius + 1, 2 * self.radius + 1, WINDOW_CHANNELS), dtype=np.float32)
        high[...] = (1, side, 1, n, side * side, 1)
        super().__init__(env, Box(np.zeros_like(high), high, dtype=np.float32))

    def observe(self) -> ChannelArray:
        """The windows of all agents, by index."""
        return egocentric_observations(self.cube_state.world, self.radius)

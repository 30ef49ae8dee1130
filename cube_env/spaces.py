"""The spaces of observations and actions."""

from __future__ import annotations

import numpy as np
from gymnasium.spaces import Box

from cube_env.arrays import CHANNELS


def observation_space(side: int, agents: int) -> Box:
    """Bounds that cover every layout of this size: no block is heavier than the side, or numbered above its cells."""
    high = np.empty((side, side, CHANNELS), dtype=np.float32)
    high[...] = (1, side, 1, agents, side * side)
    return Box(np.zeros_like(high), high, dtype=np.float32)


def no_observation() -> Box:
    """The space of the observation of worlds that keep none."""
    return Box(0.0, 1.0, (0, 0, CHANNELS), dtype=np.float32)


def batch_of(space: Box, num_envs: int) -> Box:
    """The space of a batch of one for each world."""
    shape = (num_envs, *space.shape)
    return Box(np.broadcast_to(space.low, shape), np.broadcast_to(space.high, shape), dtype=np.float32)

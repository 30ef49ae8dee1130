"""Wrappers for learners: other observations and rewards for the same worlds.

An agent's action is already a single number, so there is nothing to flatten.
"""

from __future__ import annotations

import numpy as np
from gymnasium.spaces import Box, Dict
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]

from llamac_env.transport.arrays import HALF, CountArray
from llamac_env.transport.board import MOST_OF_A_COLOUR
from llamac_env.transport.env import TransportEnv
from quorum_base.environments.arguments import whole
from quorum_base.environments.errors import WorldError
from quorum_base.environments.parallel import Observations
from quorum_base.environments.wrappers import FlatObservations, ObservingWrapper, TeamReward

__all__ = ["Egocentric", "FlatObservations", "TeamReward"]


class Egocentric(ObservingWrapper):
    """A `TransportEnv` in which each agent sees the boxes and targets around it, not only those within its reach.

    Observation: `observation`: int8 `(4 radius + 3, 4 radius + 3, 11)`, by place in half units, the agent's cell in the
        middle: the boxes there by colour, the targets by colour, and 1 outside the grid. `action_mask` as before.

    Args:
        env: A `TransportEnv`, or a wrapper of one.
        radius: Cells that the agent sees to each side, with their corners.

    Raises:
        WorldError: The environment is not a `TransportEnv`, or the radius is not an integer >= 0.
    """

    def __init__(self, env: ParallelEnv, radius: int = 5) -> None:
        if not isinstance(env.unwrapped, TransportEnv):
            raise WorldError(f"Egocentric takes a TransportEnv, not a {type(env.unwrapped).__name__}")
        self.radius = whole("radius", radius, 0)
        side = 4 * self.radius + 3
        window = Box(0, MOST_OF_A_COLOUR, (side, side, 2 * HALF + 1), dtype=np.int8)
        masks = env.observation_space(env.possible_agents[0])["action_mask"]
        super().__init__(env, Dict({"observation": window, "action_mask": masks}))

    def observe(self, observations: Observations) -> Observations:
        """The windows of all agents, by name."""
        env = self.env.unwrapped
        reach = 2 * self.radius + 1
        padded: CountArray = np.pad(env.state(), ((reach, reach), (reach, reach), (0, 1)))
        padded[..., -1] = 1
        padded[reach:-reach, reach:-reach, -1] = 0
        found = {}
        for (row, col), (name, seen) in zip(env.grid.cells, observations.items(), strict=True):
            window = padded[row : row + 2 * reach + 1, col : col + 2 * reach + 1].copy()
            found[name] = {**seen, "observation": window}
        return found

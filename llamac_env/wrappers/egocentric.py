"""Each agent of grid transportation sees a window of the board around itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]
from pettingzoo.utils import BaseParallelWrapper  # type: ignore[import-untyped]

from llamac_env.arguments import whole
from llamac_env.errors import LlamacError
from llamac_env.transport.arrays import HALF, CountArray
from llamac_env.transport.drawing import MOST_OF_A_COLOUR
from llamac_env.transport.env import Observation, TransportEnv

Infos = dict[str, dict[str, Any]]


class Egocentric(BaseParallelWrapper[str, Observation, int]):  # type: ignore[misc]
    """A `TransportEnv` in which each agent sees the boxes and targets around it, and not only those in its reach.

    Observation: `observation`: int8 `(4 radius + 3, 4 radius + 3, 11)`, by place in half units, the agent's cell in the
        middle: the boxes there by colour, the targets by colour, and 1 outside the grid. `action_mask` as before.

    Args:
        env: A `TransportEnv`, or a wrapper of one.
        radius: Cells that the agent sees to each side, with their corners.

    Raises:
        LlamacError: It is another environment, or the radius is not an integer from 0 on.
    """

    def __init__(self, env: ParallelEnv, radius: int = 5) -> None:
        super().__init__(env)
        if not isinstance(env.unwrapped, TransportEnv):
            raise LlamacError(f"Egocentric takes a TransportEnv, not a {type(env.unwrapped).__name__}")
        self.radius = whole("radius", radius, 0)
        side = 4 * self.radius + 3
        window = Box(0, MOST_OF_A_COLOUR, (side, side, 2 * HALF + 1), dtype=np.int8)
        masks = env.observation_space(env.possible_agents[0])["action_mask"]
        space = Dict({"observation": window, "action_mask": masks})
        self.observation_spaces = dict.fromkeys(env.possible_agents, space)

    def observation_space(self, agent: str) -> Dict:
        """The space of an agent's observation, one object for all agents."""
        return self.observation_spaces[agent]

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Observation], Infos]:
        """Begin an episode, as `TransportEnv.reset` does."""
        observations, infos = self.env.reset(seed=seed, options=options)
        return self._around(observations), infos

    def step(
        self, actions: Mapping[str, int]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """Advance by one joint action, as `TransportEnv.step` does."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        return self._around(observations), rewards, terminations, truncations, infos

    def _around(self, observations: Mapping[str, Observation]) -> dict[str, Observation]:
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

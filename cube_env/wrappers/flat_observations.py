"""Each agent sees a flat vector."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]

from cube_env.errors import CubeError
from cube_env.views import flat_observations, flat_size, flat_state, flat_state_size
from cube_env.wrappers.observing import ObservingWrapper


class FlatObservations(ObservingWrapper):
    """A `CubeEnv` in which each agent sees the agents and blocks as a flat vector, from where it stands.

    Observation: float32 `(F,)` in [-1, 1]: see `flat_observations`.
    State: float32 `(S,)` in [0, 1], for a central critic: see `flat_state`.

    Args:
        env: A `CubeEnv`, or a wrapper of one. Make it with `copy=False`: what it observes is not used.

    Raises:
        CubeError: At a reset: the layout has another number of blocks than the environment was made for.
    """

    def __init__(self, env: ParallelEnv) -> None:
        self.blocks = len(env.layout.blocks if env.layout is not None else env.scenario.weights)
        n = len(env.possible_agents)
        super().__init__(env, Box(-1.0, 1.0, (flat_size(n, self.blocks),), dtype=np.float32))
        self.state_space = Box(0.0, 1.0, (flat_state_size(n, self.blocks),), dtype=np.float32)

    def observe(self) -> npt.NDArray[np.float32]:
        """The vectors of all agents, by index."""
        world = self.cube_state.world
        if len(world.blocks) != self.blocks:
            raise CubeError(
                f"the board has {len(world.blocks)} blocks, this environment vectors for {self.blocks}: "
                "make another with CubeEnv(layout=...)"
            )
        return flat_observations(world, self.max_steps)

    def state(self) -> npt.NDArray[np.float32]:
        """The whole state as one vector."""
        return flat_state(self.cube_state.world, self.max_steps)

"""Wrappers for learners: other observations, rewards and actions for the same world."""

from __future__ import annotations

from functools import reduce

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Discrete
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]

from cube_env.arrays import ActionArray, ChannelArray
from cube_env.constants import Action
from cube_env.team import CubeTeamEnv
from cube_env.views import (
    WINDOW_CHANNELS,
    MaskArray,
    egocentric_observations,
    flat_observations,
    flat_size,
    flat_state,
    flat_state_size,
)
from quorum_base.environments.actions import number
from quorum_base.environments.arguments import whole
from quorum_base.environments.errors import WorldError
from quorum_base.environments.parallel import Observations
from quorum_base.environments.wrappers import ObservingWrapper, TeamReward

__all__ = ["Egocentric", "FlatActions", "FlatObservations", "TeamReward"]

LARGEST_TEAM = 8
"""Largest team for joint-action masks; beyond it a mask has more than 390,625 entries."""


class Egocentric(ObservingWrapper):
    """A `CubeEnv` in which each agent sees a window centred on itself.

    Observation: float32 `(2 radius + 1, 2 radius + 1, 6)`, see `egocentric_observations`. `state()` stays complete.

    Args:
        env: A `CubeEnv`, or a wrapper of one. Create it with `copy=False`; its observations are not used.
        radius: Cells that the agent sees to each side.

    Raises:
        WorldError: The radius is not an integer >= 0.
    """

    def __init__(self, env: ParallelEnv, radius: int = 5) -> None:
        self.radius = whole("radius", radius, 0)
        side, n = env.side, len(env.possible_agents)
        high = np.empty((2 * self.radius + 1, 2 * self.radius + 1, WINDOW_CHANNELS), dtype=np.float32)
        high[...] = (1, side, 1, n, side * side, 1)
        super().__init__(env, Box(np.zeros_like(high), high, dtype=np.float32))

    def observe(self, observations: Observations) -> Observations:
        """The windows of all agents, by name."""
        return dict(zip(observations, egocentric_observations(self.cube_state.world, self.radius), strict=True))


class FlatObservations(ObservingWrapper):
    """A `CubeEnv` in which each agent sees the agents and blocks as a flat vector, relative to its own cell.

    Observation: float32 `(F,)` in [-1, 1]: see `flat_observations`.
    State: float32 `(S,)` in [0, 1], for a central critic: see `flat_state`.

    Args:
        env: A `CubeEnv`, or a wrapper of one. Create it with `copy=False`; its observations are not used.

    Raises:
        WorldError: At a reset: the layout's number of blocks differs from that of the environment.
    """

    def __init__(self, env: ParallelEnv) -> None:
        self.blocks, n = env.blocks, len(env.possible_agents)
        super().__init__(env, Box(-1.0, 1.0, (flat_size(n, self.blocks),), dtype=np.float32))
        self.state_space = Box(0.0, 1.0, (flat_state_size(n, self.blocks),), dtype=np.float32)

    def observe(self, observations: Observations) -> Observations:
        """The vectors of all agents, by name."""
        world = self.cube_state.world
        if len(world.blocks) != self.blocks:
            raise WorldError(
                f"the board has {len(world.blocks)} blocks, but the observation vectors have room for {self.blocks}: "
                "make another with CubeEnv(layout=...)"
            )
        return dict(zip(observations, flat_observations(world, self.max_steps), strict=True))

    def state(self) -> npt.NDArray[np.float32]:
        """The whole state as one vector."""
        return flat_state(self.cube_state.world, self.max_steps)


class FlatActions(gymnasium.ActionWrapper[ChannelArray, int, npt.ArrayLike]):
    """A `CubeTeamEnv` whose joint action is a single `Discrete(5**n)`.

    The number is in base 5, with agent 0 as the highest digit. (An agent of `CubeEnv` already has its own `Discrete(5)`
    and needs no wrapper.)

    Args:
        env: A `CubeTeamEnv`, or a wrapper of one, of at most 8 agents.

    Raises:
        WorldError: The team is larger, or the environment is not a `CubeTeamEnv`.
    """

    def __init__(self, env: gymnasium.Env[ChannelArray, npt.ArrayLike]) -> None:
        super().__init__(env)
        team = env.unwrapped
        if not isinstance(team, CubeTeamEnv):
            raise WorldError(f"FlatActions takes a CubeTeamEnv, or a wrapper of one, not a {type(team).__name__}")
        self.n = len(team.action_space.nvec)
        if self.n > LARGEST_TEAM:
            raise WorldError(
                f"a team of {self.n} has 5**{self.n} joint actions: FlatActions takes up to {LARGEST_TEAM} agents"
            )
        self._team = team
        self._joint_actions = len(Action) ** self.n
        self.action_space = Discrete(self._joint_actions)  # type: ignore[assignment] # Gymnasium's spaces are invariant

    def action(self, action: int) -> ActionArray:
        """The actions of the agents, shape (n,).

        Raises:
            ActionError: The number is not a valid joint action.
        """
        joint = number("the team", action, self._joint_actions)
        return np.array(np.unravel_index(joint, (len(Action),) * self.n), dtype=np.int64)

    def action_masks(self) -> MaskArray:
        """Return int8 (5**n,): 1 for a joint action in which no agent's part is masked."""
        return reduce(lambda flat, mask: np.multiply.outer(flat, mask).ravel(), self._team.action_masks())

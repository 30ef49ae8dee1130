"""The team's choice as one number."""

from __future__ import annotations

from functools import reduce
from operator import index
from typing import SupportsIndex

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Discrete

from cube_env.arrays import ActionArray, ChannelArray
from cube_env.constants import Action
from cube_env.errors import ActionError, CubeError
from cube_env.masks import MaskArray
from cube_env.team import CubeTeamEnv

LARGEST_TEAM = 8
"""Beyond it a mask of all joint actions has more than 390,625 entries."""


class FlatActions(gymnasium.ActionWrapper[ChannelArray, int, npt.ArrayLike]):
    """A `CubeTeamEnv` whose joint action is one `Discrete(5**n)`.

    The number is read in base 5, and agent 0 has its highest digit. (An agent of `CubeEnv` has a `Discrete(5)` of its
    own and needs no wrapper.)

    Args:
        env: A `CubeTeamEnv`, or a wrapper of one, of at most 8 agents.

    Raises:
        CubeError: The team is larger, or it is another environment.
    """

    def __init__(self, env: gymnasium.Env[ChannelArray, npt.ArrayLike]) -> None:
        super().__init__(env)
        team = env.unwrapped
        if not isinstance(team, CubeTeamEnv):
            raise CubeError(f"FlatActions takes a CubeTeamEnv, or a wrapper of one, not a {type(team).__name__}")
        self.n = len(team.cube.possible_agents)
        if self.n > LARGEST_TEAM:
            raise CubeError(
                f"a team of {self.n} has 5**{self.n} joint actions: FlatActions takes up to {LARGEST_TEAM} agents"
            )
        self._team = team
        self._joint_actions = len(Action) ** self.n
        self.action_space = Discrete(self._joint_actions)  # type: ignore[assignment] # Gymnasium's spaces are invariant

    def action(self, action: int) -> ActionArray:
        """The actions of the agents, shape (n,).

        Raises:
            ActionError: The number is none of the joint actions.
        """
        if not (isinstance(action, SupportsIndex) and 0 <= index(action) < self._joint_actions):
            raise ActionError(f"action {action!r} is none of 0 to {self._joint_actions - 1}")
        return np.array(np.unravel_index(index(action), (len(Action),) * self.n), dtype=np.int64)

    def action_masks(self) -> MaskArray:
        """Int8 (5**n,): 1 for a joint action in which no agent's part is masked."""
        return reduce(lambda flat, mask: np.multiply.outer(flat, mask).ravel(), self._team.action_masks())

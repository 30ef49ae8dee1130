"""The team as one agent: one world of a batch as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy.typing as npt
from gymnasium.spaces import MultiDiscrete
from gymnasium.vector import AutoresetMode

from quorum_base.environments.actions import integers
from quorum_base.environments.arguments import seed_number
from quorum_base.environments.errors import EpisodeError, WorldError


class TeamEnv(gymnasium.Env[Any, npt.ArrayLike]):
    """The one world of a batch, for a learner that decides for the whole team.

    Observations, infos, state and masks are those of the batch, without their leading dimension.

    Args:
        envs: A batch of one world, whose reward is that of the team.

    Raises:
        WorldError: The batch begins the next episode in the step that ends one: its last observation would be lost.
    """

    def __init__(self, envs: Any) -> None:
        if envs.autoreset_mode is not AutoresetMode.NEXT_STEP:
            raise WorldError("autoreset_mode: there is no autoreset here: leave it out")
        self.envs = envs
        self.render_mode = envs.render_mode
        self.observation_space = envs.single_observation_space
        self.action_space: MultiDiscrete = envs.single_action_space
        self.state_space = envs.single_state_space
        self._shape = self.action_space.shape
        self._running = False

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: Begins the stream of worlds, as in the environment of agents; without one the stream goes on, or
                begins anywhere.
            options: There are none.

        Raises:
            WorldError: The seed is no integer from 0 on, or there are options.
            PlacementError: The world has no room for what should stand in it.
        """
        super().reset(seed=seed_number(seed))
        observations, infos = self.envs.reset(seed=seed, options=options)
        self._running = True
        return _first(observations), _first(infos)

    def step(self, action: npt.ArrayLike) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Advance by one joint action.

        Args:
            action: Integers, shape (n,), by agent index.

        Raises:
            ActionError: The actions are not that; nothing has moved.
            EpisodeError: There is no running episode.
        """
        joint = integers(action, self._shape)
        if not self._running:
            raise EpisodeError("no episode is running: call reset() to begin one")
        observations, rewards, terminations, truncations, infos = self.envs.step(joint[None])
        terminated, truncated = bool(terminations[0]), bool(truncations[0])
        self._running = not (terminated or truncated)
        return _first(observations), float(rewards[0]), terminated, truncated, _first(infos)

    def state(self) -> npt.NDArray[Any]:
        """The state for a central critic, of `state_space`, an array of the caller's own."""
        state: npt.NDArray[Any] = self.envs.state()[0]
        return state

    def action_masks(self) -> npt.NDArray[Any]:
        """What each agent can do now, int8 `(n, actions)`."""
        masks: npt.NDArray[Any] = self.envs.action_masks()[0]
        return masks

    def render(self) -> Any:
        """What the environment of agents gives."""
        return self.envs.render()[0]


def _first(batch: Any) -> Any:
    """What is the first world's in an array, or in each of a dictionary of them."""
    return {name: array[0] for name, array in batch.items()} if isinstance(batch, dict) else batch[0]

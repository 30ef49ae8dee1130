"""The team as one agent: a batch of one world as a Gymnasium environment."""

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
    """A batch of one world as a single-agent environment, for a learner that decides for the whole team.

    Observations, infos, state and masks are those of the batch, without their leading dimension.

    Args:
        envs: A batch of one world with a team reward.

    Raises:
        WorldError: The batch starts the next episode in the step that ends one, so the last observation would be lost.
    """

    def __init__(self, envs: Any) -> None:
        if envs.autoreset_mode is not AutoresetMode.NEXT_STEP:
            raise WorldError("autoreset_mode: this environment has no autoreset: leave it out")
        self.envs = envs
        self.render_mode = envs.render_mode
        self.observation_space = envs.single_observation_space
        self.action_space: MultiDiscrete = envs.single_action_space
        self.state_space = envs.single_state_space
        self._shape = self.action_space.shape
        self._running = False

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: Starts the random stream, as in the multi-agent environment. Without a seed the stream continues; the
                first reset starts a random one.
            options: None are supported.

        Raises:
            WorldError: The seed is not an integer of at least 0, or there are options.
            PlacementError: The world has no room for everything to be placed in it.
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
            ActionError: The actions are invalid; the world is unchanged.
            EpisodeError: No episode is running.
        """
        joint = integers(action, self._shape)
        if not self._running:
            raise EpisodeError("no episode is running: call reset() to start one")
        observations, rewards, terminations, truncations, infos = self.envs.step(joint[None])
        terminated, truncated = bool(terminations[0]), bool(truncations[0])
        self._running = not (terminated or truncated)
        return _first(observations), float(rewards[0]), terminated, truncated, _first(infos)

    def state(self) -> npt.NDArray[Any]:
        """The state for a central critic, an element of `state_space`; the caller owns the array."""
        state: npt.NDArray[Any] = self.envs.state()[0]
        return state

    def action_masks(self) -> npt.NDArray[Any]:
        """The actions available to each agent now, int8 `(n, actions)`."""
        masks: npt.NDArray[Any] = self.envs.action_masks()[0]
        return masks

    def render(self) -> Any:
        """The world as text or as an image, as in the multi-agent environment."""
        return self.envs.render()[0]


def _first(batch: Any) -> Any:
    """The first world's part of an array, or of each array in a dictionary."""
    return {name: array[0] for name, array in batch.items()} if isinstance(batch, dict) else batch[0]

"""The team as one agent: the open world as environments of Gymnasium."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import MultiDiscrete
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space

from crafter_env.env import CrafterEnv
from crafter_env.kernels.arrays import MaskArray
from crafter_env.spaces import check_choices, flat_choices
from crafter_env.state import StateArray
from crafter_env.vector import Arrays, CrafterVecEnv, Flags, Infos
from maeil.environments.arguments import one_of, seed_number
from maeil.environments.errors import EpisodeError

Reduce = Literal["mean", "sum"]


class CrafterTeamVecEnv(VectorEnv[Arrays, npt.ArrayLike, Any]):
    """A `CrafterVecEnv` for a learner that decides for whole teams; `quorum/Crafter-v0` of `gymnasium.make_vec`.

    Observation, infos, copies and autoreset are those of `CrafterVecEnv`: a team is one sub-environment.
    Action: integers, shape `(num_envs, n)`, one number for each agent; see `crafter_env.spaces`. `action_mask` is int8
        `(num_envs, n, 17 + 15 n)`, or 17 without sharing.
    Reward: float64 `(num_envs,)`, the mean or the sum of the agents' rewards, the dead with 0.
    Episode end: bool `(num_envs,)`: truncated when an agent was truncated in the step that ended the episode, else
        terminated.

    Args:
        num_envs: Number of teams.
        n: As of `CrafterVecEnv`, like all that follows `reduce`.
        reduce: `"mean"` or `"sum"` of the rewards.
        arguments: See `CrafterVecEnv`.

    Raises:
        WorldError: An argument is wrong; the message says which and why.
    """

    metadata: dict[str, Any] = dict(CrafterVecEnv.metadata)  # noqa: RUF012 (Gymnasium declares it so)

    def __init__(self, num_envs: int, n: int | None = None, *, reduce: Reduce = "mean", **arguments: Any) -> None:
        one_of("reduce", reduce, ("mean", "sum"))
        self.reduce = reduce
        self.worlds = CrafterVecEnv(num_envs, n, **arguments)
        self.num_envs, self.render_mode, self.metadata = num_envs, self.worlds.render_mode, self.worlds.metadata
        self.observation_space = self.worlds.observation_space
        self.single_observation_space = cast(Any, batch_space(self.worlds.single_observation_space, self.worlds.n))
        self.choices = flat_choices(self.worlds.profile, self.worlds.n)
        self.single_action_space = MultiDiscrete([self.choices] * self.worlds.n)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.state_space = self.worlds.state_space
        self.autoreset_mode = self.worlds.autoreset_mode  # which TorchRL asks for

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Arrays, Infos]:
        """Begin an episode in every world, as `CrafterVecEnv.reset` does."""
        observations, infos = self.worlds.reset(seed=seed, options=options)
        return observations, self._masked(infos)

    def step(self, actions: npt.ArrayLike) -> tuple[Arrays, npt.NDArray[np.float64], Flags, Flags, Infos]:
        """Advance every world, as `CrafterVecEnv.step` does.

        Raises:
            ActionError: The actions are not of the action space; nothing has moved.
            EpisodeError: There was no reset yet.
        """
        joint = check_choices(actions, (self.worlds.num_envs, self.worlds.n), self.choices)
        observations, rewards, _, truncations, infos = self.worlds.step(joint)
        shared = rewards.sum(axis=1)
        if self.reduce == "mean":
            shared /= self.worlds.n
        truncated = self.worlds.ended & np.any(truncations, axis=1)
        return observations, shared, self.worlds.ended & ~truncated, truncated, self._masked(infos)

    def state(self) -> StateArray:
        """What `CrafterVecEnv.state` gives."""
        return self.worlds.state()

    def action_masks(self) -> MaskArray:
        """What `CrafterVecEnv.flat_masks` gives."""
        return self.worlds.flat_masks()

    def render(self) -> Any:
        """What `CrafterVecEnv.render` gives."""
        return self.worlds.render()

    def _masked(self, infos: Infos) -> Infos:
        if "final_info" in infos:
            del infos["final_info"]["action_mask"]  # of the actions of single agents, and of an episode that is over
        return {**infos, "action_mask": self.action_masks()} if "action_mask" in infos else infos


class CrafterTeamEnv(gymnasium.Env[Arrays, npt.ArrayLike]):
    """The rules of `CrafterEnv` for a learner that decides for the whole team; `quorum/Crafter-v0` of `gymnasium.make`.

    With the same arguments and seed it is one world of `CrafterTeamVecEnv`, without the leading dimension: observations
    `(n, ...)`, actions `(n,)`, infos `achievements`, `action_mask` and `alive` `(n, ...)` and `step`.

    Args:
        n: Number of agents; or give `layout`, which has its own.
        reduce: `"mean"` or `"sum"` of the rewards.
        arguments: See `CrafterVecEnv`; there is no autoreset here.

    Raises:
        WorldError: An argument is wrong; the message says which and why.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium declares it so)
        key: CrafterEnv.metadata[key] for key in ("name", "render_modes", "render_fps")
    }

    def __init__(self, n: int | None = None, *, reduce: Reduce = "mean", **arguments: Any) -> None:
        self.teams = CrafterTeamVecEnv(1, n, reduce=reduce, **arguments)
        self.render_mode = self.teams.render_mode
        self.observation_space, self.action_space = self.teams.single_observation_space, self.teams.single_action_space
        self.state_space = self.teams.worlds.single_state_space
        self._running = False

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Arrays, Infos]:
        """Begin an episode; the seed, from 0 on, is that of `CrafterEnv.reset`, options there are none."""
        super().reset(seed=seed_number(seed))
        observations, infos = self.teams.reset(seed=seed, options=options)
        self._running = True
        return _first(observations), _first(infos)

    def step(self, action: npt.ArrayLike) -> tuple[Arrays, float, bool, bool, Infos]:
        """Advance by one joint action.

        Raises:
            ActionError: The actions are not of the action space; nothing has moved.
            EpisodeError: There is no running episode.
        """
        if not self._running:
            raise EpisodeError("no episode is running: call reset() to begin one")
        observations, rewards, terminations, truncations, infos = self.teams.step(cast(npt.ArrayLike, [action]))
        terminated, truncated = bool(terminations[0]), bool(truncations[0])
        self._running = not (terminated or truncated)
        return _first(observations), float(rewards[0]), terminated, truncated, _first(infos)

    def state(self) -> StateArray:
        """What `CrafterEnv.state` gives."""
        state: StateArray = self.teams.state()[0]
        return state

    def action_masks(self) -> MaskArray:
        """What each agent can do now as one number, int8 `(n, 17 + 15 n)`."""
        masks: MaskArray = self.teams.action_masks()[0]
        return masks

    def render(self) -> Any:
        """The map, as `CrafterEnv.render` gives it."""
        return self.teams.render()[0]


def _first(arrays: Mapping[str, Any]) -> dict[str, Any]:
    return {name: array[0] for name, array in arrays.items()}

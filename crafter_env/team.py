"""The team as one agent: the open world as Gymnasium environments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space

from crafter_env.env import CrafterEnv
from crafter_env.kernels.arrays import MaskArray
from crafter_env.spaces import check_choices, flat_choices
from crafter_env.state import StateArray
from crafter_env.vector import Arrays, CrafterVecEnv, Flags
from quorum_base.environments.arguments import one_of
from quorum_base.environments.batches import Infos
from quorum_base.environments.parallel import batch_metadata
from quorum_base.environments.spaces import MaskedMultiDiscrete
from quorum_base.environments.team import TeamEnv

Reduce = Literal["mean", "sum"]


class CrafterTeamVecEnv(VectorEnv[Arrays, npt.ArrayLike, Any]):
    """A `CrafterVecEnv` for a learner that decides for whole teams; `quorum/Crafter-v0` of `gymnasium.make_vec`.

    Observations, infos, copies and autoreset are those of `CrafterVecEnv`; a team is one sub-environment.
    Action: integers, shape `(num_envs, n)`, one number per agent; see `crafter_env.spaces`. `action_mask` is int8
        `(num_envs, n, 17 + 15 n)`, or 17 without sharing.
    Reward: float64 `(num_envs,)`, the mean or the sum of the agents' rewards, with 0 for dead agents.
    Episode end: bool `(num_envs,)`: truncated if an agent was truncated in the step that ended the episode, else
        terminated.

    Args:
        num_envs: Number of teams.
        n: As in `CrafterVecEnv`, like everything after `reduce`.
        reduce: `"mean"` or `"sum"` of the rewards.
        arguments: See `CrafterVecEnv`.

    Raises:
        WorldError: An argument is invalid; the message names it and gives the reason.
    """

    def __init__(self, num_envs: int, n: int | None = None, *, reduce: Reduce = "mean", **arguments: Any) -> None:
        one_of("reduce", reduce, ("mean", "sum"))
        self.reduce = reduce
        self.worlds = CrafterVecEnv(num_envs, n, **arguments)
        self.num_envs, self.render_mode, self.metadata = num_envs, self.worlds.render_mode, self.worlds.metadata
        self.observation_space = self.worlds.observation_space
        self.single_observation_space = cast(Any, batch_space(self.worlds.single_observation_space, self.worlds.n))
        self.choices = flat_choices(self.worlds.profile, self.worlds.n)
        self.single_action_space = MaskedMultiDiscrete([self.choices] * self.worlds.n)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.state_space, self.single_state_space = self.worlds.state_space, self.worlds.single_state_space
        self.autoreset_mode = self.worlds.autoreset_mode  # required by TorchRL

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Arrays, Infos]:
        """Start an episode in every world, as `CrafterVecEnv.reset` does."""
        observations, infos = self.worlds.reset(seed=seed, options=options)
        return observations, self._masked(infos)

    def step(self, actions: npt.ArrayLike) -> tuple[Arrays, npt.NDArray[np.float64], Flags, Flags, Infos]:
        """Advance every world, as `CrafterVecEnv.step` does.

        Raises:
            ActionError: The actions are not in the action space; nothing has moved.
            EpisodeError: The worlds were never reset.
        """
        joint = check_choices(actions, (self.worlds.num_envs, self.worlds.n), self.choices)
        observations, rewards, _, truncations, infos = self.worlds.step(joint)
        shared = rewards.sum(axis=1)
        if self.reduce == "mean":
            shared /= self.worlds.n
        truncated = self.worlds.ended & np.any(truncations, axis=1)
        return observations, shared, self.worlds.ended & ~truncated, truncated, self._masked(infos)

    def state(self) -> StateArray:
        """Return the result of `CrafterVecEnv.state`."""
        return self.worlds.state()

    def action_masks(self) -> MaskArray:
        """Return the result of `CrafterVecEnv.flat_masks`."""
        return self.worlds.flat_masks()

    def render(self) -> Any:
        """Return the result of `CrafterVecEnv.render`."""
        return self.worlds.render()

    def _masked(self, infos: Infos) -> Infos:
        if "final_info" in infos:
            del infos["final_info"]["action_mask"]  # for single agents, and of an ended episode
        return {**infos, "action_mask": self.action_masks()} if "action_mask" in infos else infos


class CrafterTeamEnv(TeamEnv):
    """The rules of `CrafterEnv` for a learner that decides for the whole team; `quorum/Crafter-v0` of `gymnasium.make`.

    With the same arguments and seed it behaves like one world of `CrafterTeamVecEnv` without the leading dimension:
    observations `(n, ...)`, actions `(n,)`, infos `achievements`, `action_mask` and `alive` `(n, ...)` and `step`.

    Args:
        n: Number of agents; omit it if you give `layout`, which sets the number.
        arguments: See `CrafterTeamVecEnv`; there is no autoreset here.

    Raises:
        WorldError: An argument is invalid; the message names it and gives the reason.
    """

    metadata: dict[str, Any] = batch_metadata(CrafterEnv)

    def __init__(self, n: int | None = None, **arguments: Any) -> None:
        super().__init__(CrafterTeamVecEnv(1, n, **arguments))

"""The team as one agent: grid transportation and the squeeze as environments of Gymnasium."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import MultiDiscrete
from gymnasium.vector.utils import batch_space

from llamac_env.squeeze.env import SqueezeEnv
from llamac_env.transport.env import TransportEnv
from llamac_env.transport.grid import grid_for
from llamac_env.transport.vector import TransportVecEnv
from maeil.environments.actions import in_range, integers
from maeil.environments.arguments import seed_number

Array = npt.NDArray[Any]


class _TeamEnv(gymnasium.Env[Array, npt.ArrayLike]):
    """An environment of agents, all of which act in every step and get one reward, for one learner."""

    def __init__(self, world: TransportEnv | SqueezeEnv) -> None:
        self.world = world
        self.n = len(world.possible_agents)
        self.render_mode = world.render_mode
        name = world.possible_agents[0]
        self._choices = int(world.action_space(name).n)
        self.action_space = MultiDiscrete([self._choices] * self.n)
        self.observation_space = batch_space(world.observation_space(name)["observation"], self.n)
        self.state_space = world.state_space

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin an episode; seed and options are those of the environment of agents."""
        super().reset(seed=seed_number(seed))
        observations, infos = self.world.reset(seed=seed, options=options)
        return _stacked(observations, "observation"), self._info(observations, infos)

    def step(self, action: npt.ArrayLike) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Advance by one joint action.

        Args:
            action: Integers, shape (n,), by agent index.

        Raises:
            ActionError: The actions are not that; nothing has moved.
            EpisodeError: There is no running episode.
        """
        joint = in_range(integers(action, (self.n,)), self._choices).tolist()
        names = self.world.possible_agents
        observations, rewards, over, cut, infos = self.world.step(dict(zip(names, joint, strict=True)))
        first = names[0]
        info = self._info(observations, infos)
        return _stacked(observations, "observation"), rewards[first], over[first], cut[first], info

    def state(self) -> Array:
        """What the environment of agents gives."""
        state: Array = self.world.state()
        return state

    def action_masks(self) -> Array:
        """What each agent can do now, int8 `(n, actions)`."""
        return np.array(list(self.world.action_masks().values()))

    def render(self) -> Any:
        """What the environment of agents gives."""
        return self.world.render()

    @abstractmethod
    def _info(self, observations: Mapping[str, Any], infos: Mapping[str, Any]) -> dict[str, Any]:
        """The info of the team."""


class TransportTeamEnv(_TeamEnv):
    """The rules of `TransportEnv` for a learner that decides for the team; `quorum/Transport-v0` of `gymnasium.make`.

    With the same arguments and seed it is one board of `TransportVecEnv`, without the leading dimension.

    Args:
        n: Number of agents, one for each cell.
        rows: Rows of the grid, a divisor of `n`; None: as near to a square as can be.
        difficulty: `"easy"` or `"hard"`.
        entry_rule: `"final_state"` or `"start_empty"`.
        arguments: `max_steps` and `render_mode` of `TransportEnv`.

    Raises:
        WorldError: An argument is wrong; the message says which and why.
    """

    metadata: dict[str, Any] = dict(TransportEnv.metadata)  # noqa: RUF012 (Gymnasium declares it so)

    def __init__(
        self,
        n: int = 8,
        *,
        rows: int | None = None,
        difficulty: str = "easy",
        entry_rule: str = "final_state",
        **arguments: Any,
    ) -> None:
        super().__init__(TransportEnv(grid_for(n, rows, difficulty, entry_rule), **arguments))

    def _info(self, observations: Mapping[str, Any], infos: Mapping[str, Any]) -> dict[str, Any]:
        own = next(iter(infos.values()))
        return {
            "action_mask": _stacked(observations, "action_mask"),
            "moved": _stacked(infos, "moved"),
            **{name: own[name] for name in ("placed", "boxes_left", "step", "collided")},
        }


class SqueezeTeamEnv(_TeamEnv):
    """The rules of `SqueezeEnv` for a learner that decides for the team; `quorum/Squeeze-v0` of `gymnasium.make`.

    Args:
        n: Number of agents.
        arguments: `rho`, `rounds` and `render_mode` of `SqueezeEnv`.

    Raises:
        WorldError: An argument is wrong; the message says which and why.
    """

    metadata: dict[str, Any] = dict(SqueezeEnv.metadata)  # noqa: RUF012 (Gymnasium declares it so)

    def __init__(self, n: int = 5, **arguments: Any) -> None:
        super().__init__(SqueezeEnv(n, **arguments))

    def _info(self, observations: Mapping[str, Any], infos: Mapping[str, Any]) -> dict[str, Any]:
        return {"action_mask": _stacked(observations, "action_mask"), **next(iter(infos.values()))}


def transport_teams(
    num_envs: int,
    n: int = 8,
    *,
    rows: int | None = None,
    difficulty: str = "easy",
    entry_rule: str = "final_state",
    **arguments: Any,
) -> TransportVecEnv:
    """The batch of `quorum/Transport-v0` for `gymnasium.make_vec`.

    Args:
        num_envs: Number of boards.
        n: As of `TransportTeamEnv`, like the next three.
        rows: See there.
        difficulty: See there.
        entry_rule: See there.
        arguments: See `TransportVecEnv`.

    Raises:
        WorldError: An argument is wrong; the message says which and why.
    """
    return TransportVecEnv(num_envs, grid_for(n, rows, difficulty, entry_rule), **arguments)


def _stacked(by_agent: Mapping[str, Any], key: str) -> Array:
    return np.array([each[key] for each in by_agent.values()])

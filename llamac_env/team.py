"""The team as one agent: grid transportation and the squeeze as Gymnasium environments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector.utils import batch_space

from llamac_env.squeeze.env import SqueezeEnv
from llamac_env.squeeze.game import HIGHEST
from llamac_env.transport.env import TransportEnv
from llamac_env.transport.grid import grid_for
from llamac_env.transport.vector import TransportVecEnv
from quorum_base.environments.actions import in_range, integers
from quorum_base.environments.arguments import seed_number
from quorum_base.environments.parallel import batch_metadata
from quorum_base.environments.spaces import MaskedMultiDiscrete
from quorum_base.environments.team import TeamEnv

Array = npt.NDArray[Any]


def transport_teams(
    num_envs: int,
    n: int = 8,
    *,
    rows: int | None = None,
    difficulty: str = "easy",
    entry_rule: str = "final_state",
    **arguments: Any,
) -> TransportVecEnv:
    """Make the batch of `quorum/Transport-v0` for `gymnasium.make_vec`.

    Args:
        num_envs: Number of boards.
        n: Number of agents, one per cell.
        rows: Rows of the grid, a divisor of `n`; None: as square as possible.
        difficulty: `"easy"` or `"hard"`.
        entry_rule: `"final_state"` or `"start_empty"`.
        arguments: See `TransportVecEnv`.

    Raises:
        WorldError: An argument is invalid; the message names it and gives the reason.
    """
    return TransportVecEnv(num_envs, grid_for(n, rows, difficulty, entry_rule), **arguments)


class TransportTeamEnv(TeamEnv):
    """The rules of `TransportEnv` for a learner that decides for the team; `quorum/Transport-v0` of `gymnasium.make`.

    With the same arguments and seed it behaves like one board of `TransportVecEnv`, without the leading dimension.

    Args:
        arguments: See `transport_teams`; there is no autoreset here.

    Raises:
        WorldError: An argument is invalid; the message names it and gives the reason.
    """

    metadata: dict[str, Any] = batch_metadata(TransportEnv)

    def __init__(self, **arguments: Any) -> None:
        super().__init__(transport_teams(1, **arguments))


class SqueezeTeamEnv(gymnasium.Env[Array, npt.ArrayLike]):
    """The rules of `SqueezeEnv` for a learner that decides for the team; `quorum/Squeeze-v0` of `gymnasium.make`.

    Args:
        n: Number of agents.
        arguments: See `SqueezeEnv`.

    Raises:
        WorldError: An argument is invalid; the message names it and gives the reason.
    """

    metadata: dict[str, Any] = batch_metadata(SqueezeEnv)

    def __init__(self, n: int = 5, **arguments: Any) -> None:
        self.world = SqueezeEnv(n, **arguments)
        self.render_mode = self.world.render_mode
        self.action_space = MaskedMultiDiscrete([HIGHEST + 1] * n)
        self.observation_space = batch_space(self.world.observation_space("agent_0")["observation"], n)
        self.state_space = self.world.state_space

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Start an episode, as `SqueezeEnv.reset` does."""
        super().reset(seed=seed_number(seed))
        return self._shown(*self.world.reset(seed=seed, options=options))

    def step(self, action: npt.ArrayLike) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Play a round.

        Args:
            action: Integers 0..9, shape (n,), by agent index.

        Raises:
            ActionError: The actions have another shape or type, or are out of range; nothing has happened.
            EpisodeError: No episode is running.
        """
        names = self.world.possible_agents
        joint = in_range(integers(action, (len(names),)), HIGHEST + 1).tolist()
        observations, rewards, over, cut, infos = self.world.step(dict(zip(names, joint, strict=True)))
        seen, info = self._shown(observations, infos)
        return seen, rewards[names[0]], over[names[0]], cut[names[0]], info

    def state(self) -> Array:
        """Return the result of `SqueezeEnv.state`."""
        return self.world.state()

    def action_masks(self) -> Array:
        """Return each agent's action mask, int8 `(n, 10)`; every action is possible."""
        return np.array(list(self.world.action_masks().values()))

    def render(self) -> Any:
        """Return the result of `SqueezeEnv.render`."""
        return self.world.render()

    def _shown(self, observations: Mapping[str, Any], infos: Mapping[str, Any]) -> tuple[Array, dict[str, Any]]:
        seen, masks = (np.array([own[key] for own in observations.values()]) for key in ("observation", "action_mask"))
        return seen, {"action_mask": masks, **next(iter(infos.values()))}

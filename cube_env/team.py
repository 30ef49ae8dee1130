"""The team as one agent, as a Gymnasium environment."""

from __future__ import annotations

from typing import Any

from cube_env.env import CubeEnv
from cube_env.vector import CubeVecEnv
from quorum_base.environments.parallel import batch_metadata
from quorum_base.environments.team import TeamEnv


class CubeTeamEnv(TeamEnv):
    """The rules of `CubeEnv` for a learner that decides for the whole team; `quorum/Cube-v0` of `gymnasium.make`.

    With the same arguments and seed it behaves like `CubeEnv` and like one world of `CubeVecEnv`.

    Observation: float32 `(K, K, 5)`, the channels of `CubeEnv`.
    Action: integers 0..4, shape `(n,)`, by agent index.
    Reward: the shared reward of the agents.
    Episode end: terminated when no block is left, else truncated at `max_steps`.
    Info: as in `CubeVecEnv`: `step`, `blocks_left` and `delivered_weight` (of the last step); `action_mask`, int8
        `(n, 5)`; `alive`, bool `(n,)`. Empty with `infos="none"`.

    Args:
        n: The curriculum's single integer. Give exactly one of `n`, `scenario` and `layout`.
        arguments: See `CubeVecEnv`; there is no autoreset here.

    Raises:
        WorldError: An argument is invalid; the message names it and gives the reason.
    """

    metadata: dict[str, Any] = batch_metadata(CubeEnv)

    def __init__(self, n: int | None = None, **arguments: Any) -> None:
        super().__init__(CubeVecEnv(1, n, **arguments))

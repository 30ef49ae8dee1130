"""The team as one agent: the world as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import gymnasium
import numpy.typing as npt
from gymnasium.spaces import MultiDiscrete

from cube_env.arrays import ChannelArray
from cube_env.constants import Action
from cube_env.env import CubeEnv
from cube_env.layout import Layout
from cube_env.observation import plain_counts
from cube_env.rewards import DEFAULT, reward_function
from cube_env.scenario import Scenario
from cube_env.views import MaskArray, action_masks
from maeil.environments.arguments import one_of, seed_number
from maeil.environments.parallel import RenderMode, given


class CubeTeamEnv(gymnasium.Env[ChannelArray, npt.ArrayLike]):
    """The rules of `CubeEnv` for a learner that decides for the whole team; `quorum/Cube-v0` of `gymnasium.make`.

    With the same arguments and seed it is `CubeEnv`, and one world of `CubeVecEnv`.

    Observation: float32 `(K, K, 5)`, the channels of `CubeEnv`.
    Action: integers 0..4, shape `(n,)`, by agent index.
    Reward: that of every agent.
    Episode end: terminated when no block is left, truncated at `max_steps`.
    Info: `step`, `blocks_left` and `delivered_weight` (of the last step), int; `action_mask`, int8 `(n, 5)`, see
        `CubeEnv.action_masks`. None of them with `infos="none"`.

    Args:
        n: The curriculum's one integer; or give `scenario` or `layout`, exactly one of the three.
        scenario: Side, agents and blocks; the layout is drawn at each reset.
        layout: The layout of every episode.
        max_steps: Steps after which an episode is truncated.
        step_cost: What each step costs.
        deliver_reward: Reward for each unit of delivered weight, divided by the number of agents.
        reward: Name of the reward, of those registered in `cube_env.rewards`.
        infos: What the infos hold: `"plain"` numbers and arrays, or `"none"`.
        copy: Give a fresh observation at each step; without, a read-only one that the next step overwrites.
        render_mode: What `render()` returns: `"ansi"` text, or `"rgb_array"`, uint8 `(height, width, 3)`.

    Raises:
        WorldError: An argument is wrong; the message says which and why.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium declares it so)
        key: CubeEnv.metadata[key] for key in ("name", "render_modes", "render_fps")
    }

    def __init__(
        self,
        n: int | None = None,
        *,
        scenario: Scenario | None = None,
        layout: Layout | None = None,
        max_steps: int = 500,
        step_cost: float = 0.01,
        deliver_reward: float = 1.0,
        reward: str = DEFAULT,
        infos: Literal["none", "plain"] = "plain",
        copy: bool = True,
        render_mode: RenderMode | None = None,
    ) -> None:
        self.infos = one_of("infos", infos, ("none", "plain"))
        self.cube = CubeEnv(
            n,
            scenario=scenario,
            layout=layout,
            max_steps=max_steps,
            step_cost=step_cost,
            deliver_reward=deliver_reward,
            render_mode=render_mode,
            infos="none",
            copy=False,
        )
        self.copy = copy
        self.reward = reward
        reward_function(reward)  # refuses an unknown name here, not at the first step
        self.render_mode = render_mode
        self.observation_space = self.cube.state_space  # type: ignore[assignment] # Gymnasium's spaces are invariant
        self.state_space = self.cube.state_space
        self.action_space = MultiDiscrete([len(Action)] * len(self.cube.possible_agents))

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[ChannelArray, dict[str, Any]]:
        """Begin an episode; seed and options are those of `CubeEnv.reset`."""
        super().reset(seed=seed_number(seed))
        self.cube.reset(seed=seed, options=options)
        return self._observation(), self._info()

    def step(self, action: npt.ArrayLike) -> tuple[ChannelArray, float, bool, bool, dict[str, Any]]:
        """Advance by one joint action.

        Args:
            action: Shape (n,), integers 0..4, by agent index.

        Raises:
            ActionError: The actions are not that; nothing has moved.
            EpisodeError: There is no running episode.
        """
        shaped = reward_function(self.reward)
        before = self.cube.snapshot() if shaped is not None else None
        report = self.cube.step_array(action)
        reward = report.reward
        if shaped is not None:
            assert before is not None
            reward = shaped(before, self.cube.snapshot(), report)
        return self._observation(), reward, report.terminated, report.truncated, self._info()

    def state(self) -> ChannelArray:
        """What `CubeEnv.state` gives, an array of the caller's own."""
        return self.cube.state()

    def action_masks(self) -> MaskArray:
        """The masks of `CubeEnv.action_masks`, int8, shape (n, 5)."""
        return action_masks(self.cube.cube_state.world)

    def render(self) -> Any:
        """The board, as `CubeEnv.render` gives it."""
        return self.cube.render()

    def _observation(self) -> ChannelArray:
        return given(self.cube.cube_state.channels, copy=self.copy)

    def _info(self) -> dict[str, Any]:
        if self.infos == "none":
            return {}
        return {**plain_counts(self.cube.cube_state), "action_mask": self.action_masks()}

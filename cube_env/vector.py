"""Many worlds of one size, stepped in one compiled call."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from cube_env.arrays import CHANNELS, ActionArray, ChannelArray, World
from cube_env.constants import Action
from cube_env.env import CubeEnv, wrong_action
from cube_env.generator import draw_board
from cube_env.kernel import step_worlds
from cube_env.observation import COUNTS
from cube_env.rewards import DEFAULT, Shaping, reward_function, shaping
from cube_env.state import CubeState, Snapshot, allocate, lay_out, painted, render_ansi, world_of
from cube_env.symbolic.picture import image
from cube_env.views import MaskArray, action_masks
from quorum_base.environments.arguments import agent_name
from quorum_base.environments.batches import Infos, SharedRewardBatch
from quorum_base.environments.errors import ActionError


class CubeVecEnv(SharedRewardBatch):
    """Many independent worlds with the rules of `CubeEnv`, as a Gymnasium vector environment.

    A world is one sub-environment and its team acts jointly. Seeds and autoreset work as in `WorldBatch`.

    Observation: float32 `(num_envs, K, K, 5)`, the channels of `CubeEnv`; `(num_envs, 0, 0, 5)` with `observe=False`.
    Action: integers 0..4, shape `(num_envs, n)`; an int64 array is taken without a copy.
    Reward: float64 `(num_envs,)`; shared by every agent of a team.
    Episode end: `terminations` and `truncations`, bool `(num_envs,)`, as in `CubeEnv`.
    Infos: `step`, `blocks_left` and `delivered_weight` (of the last step), int64 `(num_envs,)`; `action_mask`, int8
        `(num_envs, n, 5)`, see `CubeEnv.action_masks`; `alive`, bool `(num_envs, n)`: always true, because agents of
        CUBE never die. Empty with `infos="none"`.

    Example:
        ```python
        envs = CubeVecEnv(1024, n=8)
        observations, infos = envs.reset(seed=0)
        actions = np.random.default_rng(0).integers(5, size=(1024, 8))
        observations, rewards, terminations, truncations, infos = envs.step(actions)
        ```

    Args:
        num_envs: Number of worlds.
        n: The curriculum's single integer. Give exactly one of `n`, `scenario` and `layout`.
        reward: Name of a reward registered in `cube_env.rewards`.
        observe: Keep the multi-channel observation; without it, steps are faster and worlds take less memory.
        infos: Content of the infos: `"plain"` arrays, or `"none"`.
        copy: Return fresh arrays at each step. Otherwise a step returns read-only views of arrays that are allocated
            once and overwritten by the next step.
        autoreset_mode: Gymnasium's `AutoresetMode.NEXT_STEP` or `SAME_STEP`.
        arguments: `scenario`, `layout`, `max_steps`, `step_cost`, `deliver_reward` and `render_mode` of `CubeEnv`.

    Raises:
        WorldError: An argument is invalid; the message names it and gives the reason.
    """

    def __init__(
        self,
        num_envs: int,
        n: int | None = None,
        *,
        reward: str = DEFAULT,
        observe: bool = True,
        infos: Literal["none", "plain"] = "plain",
        copy: bool = True,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **arguments: Any,
    ) -> None:
        single = CubeEnv(n, **arguments)
        super().__init__(num_envs, single, len(Action), infos=infos, copy=copy, autoreset_mode=autoreset_mode)
        self.scenario, self.layout, self.side = single.scenario, single.layout, single.side
        self.max_steps = single.max_steps
        self.step_cost, self.deliver_reward = single.step_cost, single.deliver_reward
        self.reward, self.observe = reward, observe
        reward_function(reward)  # reject an unknown name now, not at the first step
        self.single_observation_space: Box = single.state_space if observe else Box(0, 1, (0, 0, CHANNELS))
        self._fixed = CubeState.from_layout(self.layout) if self.layout is not None else None
        self._worlds = allocate(self.num_envs, self.side, self.n, single.blocks, observe=observe)

    @cached_property
    def observation_space(self) -> Box:  # type: ignore[override] # built when asked for: its bounds are 3 observations
        """The space of a batch of observations."""
        return batch_space(self.single_observation_space, self.num_envs)  # type: ignore[return-value] # a Box

    @cached_property
    def state_space(self) -> Box:
        """The space of `state()`, built on access like the observation space."""
        return batch_space(self.single_state_space, self.num_envs)  # type: ignore[return-value] # a Box

    def _advance(self, joint: ActionArray, given: npt.ArrayLike, /) -> None:
        before = self._shaping.look(self._worlds) if self._shaping is not None else None
        wrong = step_worlds(
            joint, self._begins, self._rewards, self._terminations, self._truncations,
            self.step_cost, self.deliver_reward, self.max_steps, *self._worlds,
        )  # fmt: skip
        if wrong >= 0:
            world, agent = divmod(wrong, self.n)
            action = int(np.asarray(given)[world, agent])
            raise ActionError(f"world {world}, {wrong_action(agent_name(agent), action)}")
        if self._shaping is not None:
            self._shaping.apply(self._rewards, before, self._worlds, joint, self._begins)

    def state(self) -> ChannelArray:
        """Return a copy of the multi-channel observations, shape (num_envs, K, K, 5).

        They are complete even with `observe=False`.
        """
        return painted(self._worlds)

    def action_masks(self) -> MaskArray:
        """Return the masks of `CubeEnv.action_masks`, int8, shape (num_envs, n, 5)."""
        return action_masks(self._worlds)

    @property
    def worlds(self) -> World:
        """The live arrays of all worlds, each with a leading dimension. Read them only; writing breaks the worlds."""
        return self._worlds

    def cube_state(self, world: int) -> CubeState:
        """Return the live arrays of a world. Read or `copy()` them to roll forward; writing breaks the world."""
        return CubeState(world_of(self._worlds, world))

    def snapshot(self, world: int) -> Snapshot:
        """Return an immutable snapshot of a world."""
        return self.cube_state(world).snapshot()

    def __getstate__(self) -> dict[str, Any]:
        # May hold a user's function, which cannot be pickled.
        return {name: value for name, value in vars(self).items() if name != "_shaping"}

    @cached_property
    def _shaping(self) -> Shaping | None:
        values = {name: getattr(self, name) for name in ("step_cost", "deliver_reward", "max_steps")}
        return shaping(self.reward, **values)

    def _begin(self, world: int) -> None:
        """Write the board of a world's next episode into its arrays."""
        if self._fixed is not None:
            agents, blocks = self._fixed.agents, self._fixed.block_table
        else:
            assert self.scenario is not None
            rows, blocks = draw_board(self.scenario, self._streams[world])
            agents = np.stack([rows, np.zeros_like(rows)], axis=1)
        lay_out(world_of(self._worlds, world), agents, blocks)

    def _observations(self) -> ChannelArray:
        return self._own(self._worlds.channels)

    def _plain_infos(self) -> Infos:
        counters = self._own(self._worlds.counters)
        counts = {name: counters[:, column] for name, column in COUNTS.items()}
        return {**counts, "action_mask": self.action_masks()}

    def _text(self, world: int) -> str:
        return render_ansi(self.snapshot(world))

    def _image(self, world: int) -> npt.NDArray[np.uint8]:
        return image(self.snapshot(world))

"""Many worlds of one size, stepped in one compiled call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, MultiDiscrete
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from cube_env.arrays import ChannelArray, FlagArray, RewardArray, World
from cube_env.constants import Action
from cube_env.env import CubeEnv, batch_of, no_observation, observation_space, wrong_action
from cube_env.generator import draw_board
from cube_env.kernel import step_worlds
from cube_env.layout import Layout
from cube_env.observation import COUNTS
from cube_env.render import render_ansi, render_rgb
from cube_env.rewards import DEFAULT, Shaping, reward_function, shaping
from cube_env.scenario import Scenario
from cube_env.state import CubeState, Snapshot, allocate, each_world, lay_out, painted, world_of
from cube_env.views import MaskArray, action_masks
from maeil.environments.actions import integers
from maeil.environments.arguments import agent_name, no_render_mode, no_state, one_of, whole
from maeil.environments.batches import autoreset_mode as mode_of
from maeil.environments.batches import batch_seeds, no_options
from maeil.environments.errors import ActionError
from maeil.environments.parallel import RENDER_MODES, RenderMode, read_only

Step = tuple[ChannelArray, RewardArray, FlagArray, FlagArray, dict[str, Any]]


class CubeVecEnv(VectorEnv[ChannelArray, npt.ArrayLike, Any]):
    """Many independent worlds of the rules of `CubeEnv`, as a Gymnasium vector environment.

    A world is one sub-environment and its team acts jointly. World i is, to the bit, `CubeEnv` with the same arguments
    after `reset(seed=seed + i)`; when an episode ends, its next one is that environment's `reset()`, which goes on with
    the same stream of layouts.

    Autoreset is either of Gymnasium's modes. `NEXT_STEP`: the step that ends an episode returns its last observation;
    the next step ignores that world's actions, begins its next episode, and returns the first observation with reward
    0. `SAME_STEP`: the step that ends an episode returns the first observation of the next one, and its infos hold
    `final_obs` and `final_info` of the worlds that `_final_obs` marks.

    Observation: float32 `(num_envs, K, K, 5)`, the channels of `CubeEnv`; `(num_envs, 0, 0, 5)` with `observe=False`.
    Action: integers 0..4, shape `(num_envs, n)`; an int64 array is taken without a copy.
    Reward: float64 `(num_envs,)`; every agent of a team has the same.
    Episode end: `terminations` and `truncations`, bool `(num_envs,)`, as in `CubeEnv`.
    Infos: `step`, `blocks_left` and `delivered_weight` (of the last step), int64 `(num_envs,)`; `action_mask`, int8
        `(num_envs, n, 5)`, see `CubeEnv.action_masks`; `alive`, bool `(num_envs, n)`: true, for no agent of CUBE dies.
        None of them with `infos="none"`, except for those of a final step.

    Example:
        ```python
        envs = CubeVecEnv(1024, n=8)
        observations, infos = envs.reset(seed=0)
        actions = np.random.default_rng(0).integers(5, size=(1024, 8))
        observations, rewards, terminations, truncations, infos = envs.step(actions)
        ```

    Args:
        num_envs: Number of worlds.
        n: The curriculum's one integer; or give `scenario` or `layout`, exactly one of the three.
        scenario: Side, agents and blocks; the layouts are drawn.
        layout: The layout of every episode.
        max_steps: Steps after which an episode is truncated.
        step_cost: What each step costs every agent.
        deliver_reward: Reward for each unit of delivered weight, shared by the agents.
        reward: Name of the reward, of those registered in `cube_env.rewards`.
        observe: Keep the multi-channel observation; without it a step is faster and a world takes less memory.
        infos: What the infos hold: `"plain"` arrays, or `"none"`.
        copy: Give fresh arrays at each step; without, what a step returns are read-only views of arrays that are
            allocated once, and that the next step overwrites.
        autoreset_mode: Gymnasium's `AutoresetMode.NEXT_STEP` or `SAME_STEP`.
        render_mode: What `render()` gives for each world: `"ansi"` text, or `"rgb_array"`.

    Raises:
        WorldError: An argument is wrong; the message says which and why.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium declares it so)
        "name": "cube_v0",
        "render_modes": list(RENDER_MODES),
        "render_fps": CubeEnv.metadata["render_fps"],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int,
        n: int | None = None,
        *,
        scenario: Scenario | None = None,
        layout: Layout | None = None,
        max_steps: int = 500,
        step_cost: float = 0.01,
        deliver_reward: float = 1.0,
        reward: str = DEFAULT,
        observe: bool = True,
        infos: Literal["none", "plain"] = "plain",
        copy: bool = True,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: RenderMode | None = None,
    ) -> None:
        self.num_envs = whole("num_envs", num_envs, 1)
        # The single environment checks the arguments and knows the sizes and spaces.
        single = CubeEnv(
            n,
            scenario=scenario,
            layout=layout,
            max_steps=max_steps,
            step_cost=step_cost,
            deliver_reward=deliver_reward,
            render_mode=render_mode,
        )
        self.scenario, self.layout = single.scenario, single.layout
        self.side, self.n = single.side, len(single.possible_agents)
        self.max_steps = single.max_steps
        self.step_cost, self.deliver_reward = single.step_cost, single.deliver_reward
        self.reward = reward
        self.observe, self.copy = observe, copy
        self.infos = one_of("infos", infos, ("none", "plain"))
        self.autoreset_mode = mode_of(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = render_mode
        self.single_observation_space = single.state_space if observe else no_observation()
        self.single_action_space = MultiDiscrete([len(Action)] * self.n)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._fixed = CubeState.from_layout(layout) if layout is not None else None
        if layout is not None:
            blocks = len(layout.blocks)
        else:
            assert self.scenario is not None
            blocks = len(self.scenario.weights)
        self._worlds = allocate(self.num_envs, self.side, self.n, blocks, observe=observe)
        self._rewards = np.zeros(self.num_envs)
        self._terminations = np.zeros(self.num_envs, dtype=np.bool_)
        self._truncations = np.zeros(self.num_envs, dtype=np.bool_)
        self._begins = np.zeros(self.num_envs, dtype=np.bool_)
        self._alive = np.ones((self.num_envs, self.n), dtype=np.bool_)
        self._generators: list[np.random.Generator] = []
        reward_function(reward)  # refuses an unknown name here, not at the first step

    @cached_property
    def observation_space(self) -> Box:  # type: ignore[override] # built when asked for: its bounds are 3 observations
        """The space of a batch of observations."""
        return batch_of(observation_space(self.side, self.n) if self.observe else no_observation(), self.num_envs)

    @cached_property
    def state_space(self) -> Box:
        """The space of `state()`; built when asked for, as that of observations."""
        return batch_of(observation_space(self.side, self.n), self.num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[ChannelArray, dict[str, Any]]:
        """Begin an episode in every world.

        Args:
            seed: World i begins its stream of layouts at `seed + i`; or one seed for each world. Where there is none,
                the stream goes on, or begins anywhere.
            options: There are none.

        Returns:
            Observations and infos.

        Raises:
            WorldError: A seed is no integer from 0, their number is not that of the worlds, or there are options.
            PlacementError: The scenario does not fit its grid.
        """
        no_options(options)
        self._seed(seed)
        for world in range(self.num_envs):
            self._begin(world)
        self._begins[:] = self._terminations[:] = self._truncations[:] = False
        self._rewards[:] = 0.0
        observations, _, _, _, infos = self._results()
        return observations, infos

    def step(self, actions: npt.ArrayLike) -> Step:
        """Advance every world by one joint action; those whose episode has ended begin another instead.

        Args:
            actions: Shape (num_envs, n), integers 0..4.

        Returns:
            Observations, rewards, terminations, truncations and infos.

        Raises:
            ActionError: The actions are not that; nothing has moved.
            EpisodeError: There was no reset yet.
        """
        if not self._generators:
            raise no_state()
        joint = integers(actions, (self.num_envs, self.n))
        before = self._shaping.look(self._worlds) if self._shaping is not None else None
        wrong = step_worlds(
            joint, self._begins, self._rewards, self._terminations, self._truncations,
            self.step_cost, self.deliver_reward, self.max_steps, *self._worlds,
        )  # fmt: skip
        if wrong >= 0:
            world, agent = divmod(wrong, self.n)
            action = int(np.asarray(actions)[world, agent])
            raise ActionError(f"world {world}, {wrong_action(agent_name(agent), action)}")
        if self._shaping is not None:
            self._shaping.apply(self._rewards, before, self._worlds, joint, self._begins)
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            final = self._begin_ended()
        else:
            final = {}
            for world in np.flatnonzero(self._begins).tolist():
                self._begin(world)
            np.logical_or(self._terminations, self._truncations, out=self._begins)
        observations, rewards, terminations, truncations, infos = self._results()
        return observations, rewards, terminations, truncations, infos | final

    def _begin_ended(self) -> dict[str, Any]:
        """Begin the next episode of the worlds whose episode has ended; their last observations and infos."""
        ended = self._terminations | self._truncations
        if not ended.any():
            return {}
        observations = np.full(self.num_envs, None, dtype=object)
        infos = {key: array.copy() for key, array in self._infos().items()}
        for world in np.flatnonzero(ended).tolist():
            observations[world] = self._worlds.channels[world].copy()
            self._begin(world)
        return {"final_obs": observations, "_final_obs": ended, "final_info": infos, "_final_info": ended.copy()}

    def state(self) -> ChannelArray:
        """The multi-channel observations as an array of the caller's own, shape (num_envs, K, K, 5).

        They are whole with `observe=False` too.
        """
        return painted(self._worlds)

    def action_masks(self) -> MaskArray:
        """The masks of `CubeEnv.action_masks`, int8, shape (num_envs, n, 5)."""
        return action_masks(self._worlds)

    @property
    def worlds(self) -> World:
        """The live arrays of all worlds, each with a leading dimension: read them; writing to them breaks them."""
        return self._worlds

    def cube_state(self, world: int) -> CubeState:
        """The live arrays of a world: read them, or `copy()` them to roll forward; writing to them breaks it."""
        return CubeState.of(world_of(self._worlds, world))

    def snapshot(self, world: int) -> Snapshot:
        """An immutable picture of a world."""
        return self.cube_state(world).snapshot()

    def render(self) -> tuple[str | npt.NDArray[np.uint8], ...]:
        """The board of each world as text or as an image, by `render_mode`.

        Raises:
            WorldError: The environment was made without a render mode.
        """
        snapshots = (CubeState.of(world).snapshot() for world in each_world(self._worlds))
        if self.render_mode == "ansi":
            return tuple(render_ansi(self.side, snapshot) for snapshot in snapshots)
        if self.render_mode == "rgb_array":
            return tuple(render_rgb(self.side, snapshot) for snapshot in snapshots)
        raise no_render_mode(self)

    def __getstate__(self) -> dict[str, Any]:
        # A view that is copied or pickled is detached from its array.
        return {name: value for name, value in vars(self).items() if name not in ("_views", "_shaping")}

    @cached_property
    def _shaping(self) -> Shaping | None:
        values = {name: getattr(self, name) for name in ("step_cost", "deliver_reward", "max_steps")}
        return shaping(self.reward, **values)

    def _seed(self, seed: int | Sequence[int | None] | None) -> None:
        going_on: Sequence[np.random.Generator | None] = self._generators or [None] * self.num_envs
        self._generators = [
            np_random(number)[0] if number is not None or generator is None else generator
            for number, generator in zip(batch_seeds(seed, self.num_envs), going_on, strict=True)
        ]

    def _begin(self, world: int) -> None:
        """Write the board of a world's next episode into its arrays."""
        if self._fixed is not None:
            agents, blocks = self._fixed.agents, self._fixed.block_table
        else:
            assert self.scenario is not None
            rows, blocks = draw_board(self.scenario, self._generators[world])
            agents = np.stack([rows, np.zeros_like(rows)], axis=1)
        lay_out(world_of(self._worlds, world), agents, blocks)

    @cached_property
    def _views(self) -> list[npt.NDArray[Any]]:
        """Observations, rewards, terminations, truncations, counts and who is alive, as they stand, read-only."""
        arrays: list[npt.NDArray[Any]] = [
            self._worlds.channels, self._rewards, self._terminations, self._truncations,
            *(self._worlds.counters[:, column] for column in COUNTS.values()), self._alive,
        ]  # fmt: skip
        return [read_only(array) for array in arrays]

    def _infos(self) -> dict[str, Any]:
        if self.infos == "none":
            return {}
        *counts, alive = [self._given(view) for view in self._views[4:]]
        return {**dict(zip(COUNTS, counts, strict=True)), "action_mask": self.action_masks(), "alive": alive}

    def _given(self, view: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return view.copy() if self.copy else view

    def _results(self) -> Step:
        observations, rewards, terminations, truncations = [self._given(view) for view in self._views[:4]]
        return observations, rewards, terminations, truncations, self._infos()

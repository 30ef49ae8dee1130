"""Many worlds of one size, stepped in one compiled call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, MultiDiscrete
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv

from cube_env import arrays
from cube_env.arrays import ActionArray, ChannelArray, FlagArray, IntArray, RewardArray, World
from cube_env.channels import occupy, paint
from cube_env.constants import Action
from cube_env.curriculum import Scenario
from cube_env.env import CubeEnv, RenderMode
from cube_env.errors import ActionError, CubeError, EpisodeError
from cube_env.joint_action import wrong_action
from cube_env.kernel import step_worlds, step_worlds_parallel
from cube_env.layout import Layout
from cube_env.observation import agent_name
from cube_env.placement import draw_board
from cube_env.render import render_ansi, render_rgb
from cube_env.state import CubeState, Snapshot

Step = tuple[ChannelArray, RewardArray, FlagArray, FlagArray, dict[str, Any]]


class CubeVecEnv(VectorEnv[ChannelArray, npt.ArrayLike, Any]):
    """Many independent worlds of the rules of `CubeEnv`, as a Gymnasium vector environment.

    A world is one sub-environment and its team acts jointly. World i is, to the bit, `CubeEnv` with the same arguments
    after `reset(seed=seed + i)`; when an episode ends, its next one is that environment's `reset()`, which goes on with
    the same stream of layouts.

    Autoreset is Gymnasium's next-step mode: the step that ends an episode returns its last observation; the next step
    ignores that world's actions, begins its next episode, and returns the first observation with reward 0.

    Observation: float32 `(num_envs, K, K, 5)`, the channels of `CubeEnv`; `(num_envs, 0, 0, 5)` with `observe=False`.
    Action: integers 0..4, shape `(num_envs, n)`; an int64 array is taken without a copy.
    Reward: float64 `(num_envs,)`; every agent of a team has the same.
    Episode end: `terminations` and `truncations`, bool `(num_envs,)`, as in `CubeEnv`.
    Infos: `step`, `blocks_left` and `delivered_weight` (of the last step), int64 `(num_envs,)`.

    All arrays are allocated once, and given as read-only views that the next step overwrites; `copy=True` gives arrays
    of the caller's own.

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
        observe: Keep the multi-channel observation; without it a step is faster and a world takes less memory.
        copy: Give fresh arrays at each step.
        parallel: Share the worlds out among Numba's threads.
        render_mode: What `render()` gives for each world: `"ansi"` text, or `"rgb_array"`.

    Raises:
        CubeError: An argument is wrong; the message says which and why.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium declares it so)
        "name": "cube_v0",
        "render_modes": CubeEnv.metadata["render_modes"],
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
        observe: bool = True,
        copy: bool = False,
        parallel: bool = False,
        render_mode: RenderMode | None = None,
    ) -> None:
        if index(num_envs) < 1:
            raise CubeError(f"num_envs = {num_envs}: a batch has at least 1 world")
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
        self.num_envs = index(num_envs)
        self.scenario, self.layout = single.scenario, single.layout
        self.side, self.n = single.side, len(single.possible_agents)
        self.max_steps = max_steps
        self.step_cost, self.deliver_reward = single.step_cost, single.deliver_reward
        self.observe, self.copy = observe, copy
        self.render_mode = render_mode
        self.single_observation_space = single.state_space if observe else _nothing(())
        self.single_action_space = MultiDiscrete([len(Action)] * self.n)
        self.action_space = MultiDiscrete(np.full((self.num_envs, self.n), len(Action)))
        self._kernel = step_worlds_parallel if parallel else step_worlds
        self._fixed = CubeState.from_layout(layout) if layout is not None else None
        if layout is not None:
            blocks = len(layout.blocks)
        else:
            assert self.scenario is not None
            blocks = len(self.scenario.weights)
        self._worlds = _allocate(self.num_envs, self.side, self.n, blocks, observe=observe)
        self._rewards = np.zeros(self.num_envs)
        self._terminations = np.zeros(self.num_envs, dtype=np.bool_)
        self._truncations = np.zeros(self.num_envs, dtype=np.bool_)
        self._begins = np.zeros(self.num_envs, dtype=np.bool_)
        self._generators: list[np.random.Generator] = []
        self._views = _read_only(
            self._worlds.channels, self._rewards, self._terminations, self._truncations,
            *(self._worlds.counters[:, column] for column in _INFOS.values()),
        )  # fmt: skip

    @cached_property
    def observation_space(self) -> Box:  # type: ignore[override] # built when asked for: its bounds are 3 observations
        """The space of a batch of observations."""
        if not self.observe:
            return _nothing((self.num_envs,))
        single = self.single_observation_space
        assert isinstance(single, Box)
        shape = (self.num_envs, *single.shape)
        return Box(np.broadcast_to(single.low, shape), np.broadcast_to(single.high, shape), dtype=np.float32)

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
            CubeError: The number of seeds is not that of the worlds, or there are options.
            PlacementError: The scenario does not fit its grid.
        """
        if options:
            raise CubeError(f"reset of a batch takes no options, it was given {', '.join(map(repr, options))}")
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
            raise EpisodeError("the worlds have no state before the first reset: call reset(seed=...) first")
        joint = self._checked(actions)
        wrong = self._kernel(
            joint, self._begins, self._rewards, self._terminations, self._truncations,
            self.step_cost, self.deliver_reward, self.max_steps, *self._worlds,
        )  # fmt: skip
        if wrong >= 0:
            world, agent = divmod(wrong, self.n)
            raise ActionError(f"world {world}, {wrong_action(agent_name(agent), int(joint[world, agent]))}")
        for world in np.flatnonzero(self._begins).tolist():
            self._begin(world)
        np.logical_or(self._terminations, self._truncations, out=self._begins)
        return self._results()

    def cube_state(self, world: int) -> CubeState:
        """The live arrays of a world: read them, or `copy()` them to roll forward; writing to them breaks it."""
        return CubeState.of(World._make(array[world] for array in self._worlds))

    def snapshot(self, world: int) -> Snapshot:
        """An immutable picture of a world."""
        return self.cube_state(world).snapshot()

    def render(self) -> tuple[str | npt.NDArray[np.uint8], ...]:
        """The board of each world as text or as an image, by `render_mode`.

        Raises:
            CubeError: The environment was made without a render mode.
        """
        snapshots = (self.snapshot(world) for world in range(self.num_envs))
        if self.render_mode == "ansi":
            return tuple(render_ansi(self.side, snapshot) for snapshot in snapshots)
        if self.render_mode == "rgb_array":
            return tuple(render_rgb(self.side, snapshot) for snapshot in snapshots)
        raise CubeError('this environment has no render mode: make it with CubeVecEnv(..., render_mode="rgb_array")')

    def _seed(self, seed: int | Sequence[int | None] | None) -> None:
        seeds: Sequence[int | None]
        if seed is None:
            seeds = [None] * self.num_envs
        elif isinstance(seed, int | np.integer):
            seeds = [int(seed) + world for world in range(self.num_envs)]
        else:
            seeds = seed
        if len(seeds) != self.num_envs:
            raise CubeError(f"{len(seeds)} seeds for {self.num_envs} worlds: give one number, or one for each world")
        going_on: Sequence[np.random.Generator | None] = self._generators or [None] * self.num_envs
        self._generators = [
            np_random(number)[0] if number is not None or generator is None else generator
            for number, generator in zip(seeds, going_on, strict=True)
        ]

    def _begin(self, world: int) -> None:
        """Write the board of a world's next episode into its arrays."""
        worlds = self._worlds
        agents, blocks, counters = worlds.agents[world], worlds.blocks[world], worlds.counters[world]
        if self._fixed is not None:
            agents[...] = self._fixed.agents
            blocks[...] = self._fixed.block_table
        else:
            assert self.scenario is not None
            rows, drawn = draw_board(self.scenario, self._generators[world])
            agents[:, 0] = rows
            agents[:, 1] = 0
            blocks[...] = drawn
        grid = worlds.grid[world]
        occupy(agents, blocks, grid)
        if self.observe:
            paint(blocks, grid, worlds.channels[world])
        counters[...] = 0
        counters[arrays.COUNT_LIVE] = len(blocks)

    def _checked(self, actions: npt.ArrayLike) -> ActionArray:
        joint = np.asarray(actions)
        if joint.shape != (self.num_envs, self.n) or joint.dtype.kind not in "iu":
            raise ActionError(
                f"actions of shape {joint.shape} and type {joint.dtype}: give integers of shape "
                f"({self.num_envs}, {self.n}), one for each agent of each world"
            )
        return np.ascontiguousarray(joint, dtype=np.int64)

    def _results(self) -> Step:
        observations, rewards, terminations, truncations, *infos = (
            [view.copy() for view in self._views] if self.copy else self._views
        )
        return observations, rewards, terminations, truncations, dict(zip(_INFOS, infos, strict=True))


_INFOS = {
    "step": arrays.COUNT_STEP,
    "blocks_left": arrays.COUNT_LIVE,
    "delivered_weight": arrays.COUNT_DELIVERED_WEIGHT,
}


def _nothing(leading: tuple[int, ...]) -> Box:
    return Box(0.0, 1.0, (*leading, 0, 0, arrays.CHANNELS), dtype=np.float32)


def _allocate(num_envs: int, side: int, n: int, blocks: int, *, observe: bool) -> World:
    def integers(*shape: int) -> IntArray:
        return np.zeros((num_envs, *shape), dtype=np.int32)

    observed = side if observe else 0
    return World(
        agents=integers(n, 2),
        blocks=integers(blocks, 4),
        grid=integers(side, side),
        channels=np.zeros((num_envs, observed, observed, arrays.CHANNELS), dtype=np.float32),
        counters=np.zeros((num_envs, arrays.COUNTERS), dtype=np.int64),
        attempts=integers(n, arrays.ATTEMPT_COLUMNS),
        agent_report=integers(n, arrays.AGENT_COLUMNS),
        block_report=integers(blocks, arrays.BLOCK_COLUMNS),
    )


def _read_only(*array_list: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    views = [array.view() for array in array_list]
    for view in views:
        view.flags.writeable = False
    return views

"""Many boards of grid transportation, stepped in one compiled call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, MultiDiscrete
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from llamac_env.transport.arrays import (
    HALF,
    PRIMITIVES,
    CountArray,
    action_masks,
    geometry,
    observations,
    read_state,
    state_shape,
    write_state,
)
from llamac_env.transport.board import Board, board_generator, draw_board
from llamac_env.transport.env import TransportEnv
from llamac_env.transport.grid import EntryRule, Grid
from llamac_env.transport.kernel import FlagArray, step_boards
from llamac_env.transport.render import render_ansi, render_rgb
from maeil.environments.actions import in_range, integers
from maeil.environments.arguments import no_render_mode, no_state, one_of, whole
from maeil.environments.batches import autoreset_mode as mode_of
from maeil.environments.batches import batch_seeds, no_options
from maeil.environments.parallel import RenderMode, given

Infos = dict[str, Any]


class TransportVecEnv(VectorEnv[CountArray, npt.ArrayLike, Any]):
    """Many independent boards of the rules of `TransportEnv`, as a Gymnasium vector environment.

    A board is one sub-environment and its team acts jointly. Board i is, to the bit, `TransportEnv` with the same
    arguments after `reset(seed=seed + i)`; when an episode ends, its next one is that environment's `reset()`, which
    goes on with the same stream of boards.

    Autoreset is either of Gymnasium's modes. `NEXT_STEP`: the step that ends an episode returns its last observation;
    the next step ignores that board's actions, begins its next episode, and returns the first observation with reward
    0. `SAME_STEP`: the step that ends an episode returns the first observation of the next one, and its infos hold
    `final_obs` and `final_info` of the boards that `_final_obs` marks.

    Observation: int8 `(num_envs, n, places, 5)`, what each agent of `TransportEnv` sees.
    Action: integers 0..25, shape `(num_envs, n)`.
    Reward: float64 `(num_envs,)`; every agent of a team has the same.
    Episode end: `terminations` and `truncations`, bool `(num_envs,)`, as in `TransportEnv`.
    Infos: `action_mask`, int8 `(num_envs, n, 26)`; `moved`, bool `(num_envs, n)`, whether each agent's move was made;
        `placed` (in this step), `boxes_left` and `step`, int64 `(num_envs,)`; `collided`, bool `(num_envs,)`; `alive`,
        bool `(num_envs, n)`: true, for no agent of this world dies. None of them with `infos="none"`, except for those
        of a final step.
    State: `state()`, int8 `(num_envs, 2 rows + 1, 2 columns + 1, 10)`, the states of `TransportEnv`.

    Copies and pickles go on exactly as the original does.

    Example:
        ```python
        envs = TransportVecEnv(256, Grid(2, 4, Difficulty.hard))
        observations, infos = envs.reset(seed=0)
        while True:
            actions = np.argmax(np.random.random((256, 8, 26)) * infos["action_mask"], axis=-1)
            observations, rewards, terminations, truncations, infos = envs.step(actions)
        ```

    Args:
        num_envs: Number of boards.
        grid: The cells, the difficulty and the entry rule.
        max_steps: Steps after which an episode is truncated; None: the published limit.
        infos: `"plain"` or `"none"`.
        copy: Give the caller its own arrays; without, rewards, ends and some infos are read-only views that the next
            step overwrites.
        autoreset_mode: Gymnasium's `AutoresetMode.NEXT_STEP` or `SAME_STEP`.
        render_mode: What `render()` gives for each board: `"ansi"` text, or `"rgb_array"`.

    Raises:
        WorldError: An argument is wrong; the message says which and why.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium declares it so)
        **TransportEnv.metadata,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int,
        grid: Grid,
        *,
        max_steps: int | None = None,
        infos: Literal["none", "plain"] = "plain",
        copy: bool = True,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: RenderMode | None = None,
    ) -> None:
        self.num_envs = whole("num_envs", num_envs, 1)
        # The single environment checks the arguments and knows the spaces.
        single = TransportEnv(grid, max_steps=max_steps, render_mode=render_mode)
        self.grid, self.n, self.max_steps, self.render_mode = grid, grid.agents, single.max_steps, render_mode
        self.info_kind, self.copy = one_of("infos", infos, ("none", "plain")), copy
        self.autoreset_mode = mode_of(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        seen = single.observation_space(single.possible_agents[0])["observation"]
        self.single_observation_space = batch_space(seen, self.n)
        self.single_action_space = MultiDiscrete([PRIMITIVES] * self.n)
        self.single_state_space = single.state_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.state_space: Box = batch_space(self.single_state_space, self.num_envs)  # type: ignore[assignment]
        self._states: CountArray = np.zeros((self.num_envs, *state_shape(grid)), dtype=np.int8)
        self._moved = np.zeros((self.num_envs, self.n), dtype=np.bool_)
        self._placed, self._left, self._steps = (np.zeros(self.num_envs, dtype=np.int64) for _ in range(3))
        self._rewards = np.zeros(self.num_envs)
        self._collided, self._terminations, self._truncations, self._begins = (
            np.zeros(self.num_envs, dtype=np.bool_) for _ in range(4)
        )
        self._scratch = np.zeros(self.n, dtype=np.int64), np.zeros(HALF, dtype=np.int64)
        self._generators: list[np.random.Generator] = []

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[CountArray, Infos]:
        """Begin an episode on every board.

        Args:
            seed: Board i begins its stream of boards at `seed + i`; or one seed for each. Where there is none, the
                stream goes on, or begins anywhere.
            options: There are none.

        Returns:
            Observations and infos.

        Raises:
            WorldError: A seed is no integer from 0 on, their number is not that of the boards, or there are options.
        """
        no_options(options)
        self._generators = self._seeded(seed)
        for world in range(self.num_envs):
            self._begin(world)
        self._begins[:] = self._terminations[:] = self._truncations[:] = self._collided[:] = self._moved[:] = False
        self._placed[:] = 0
        self._rewards[:] = 0.0
        return self._shown()

    def step(self, actions: npt.ArrayLike) -> tuple[CountArray, npt.NDArray[np.float64], FlagArray, FlagArray, Infos]:
        """Advance every board by one joint action; those whose episode has ended begin another instead.

        Args:
            actions: Integers 0..25, shape (num_envs, n).

        Returns:
            Observations, rewards, terminations, truncations and infos.

        Raises:
            ActionError: The actions are not that; nothing has moved.
            EpisodeError: There was no reset yet.
        """
        self._require_state()
        joint = in_range(integers(actions, (self.num_envs, self.n)), PRIMITIVES)
        step_boards(
            joint, self._begins, geometry(self.grid).slots, self.grid.is_hard,
            self.grid.entry_rule is EntryRule.start_empty, self._states, self._moved, self._placed, self._collided,
            *self._scratch,
        )  # fmt: skip
        for world in np.flatnonzero(self._begins).tolist():
            self._begin(world)
        went = ~self._begins
        self._steps += went
        self._left -= self._placed
        self._rewards[:] = np.where(went, self._placed - 1.0, 0.0)
        self._terminations[:] = went & ((self._left == 0) | self._collided)
        self._truncations[:] = went & ~self._terminations & (self._steps >= self.max_steps)
        np.logical_or(self._terminations, self._truncations, out=self._begins)
        final = self._finish() if self.autoreset_mode is AutoresetMode.SAME_STEP and self._begins.any() else {}
        seen, infos = self._shown()
        ends = self._own(self._rewards), self._own(self._terminations), self._own(self._truncations)
        return seen, *ends, {**infos, **final}

    def state(self) -> CountArray:
        """The states for a central critic, an array of the caller's own; see the class.

        Raises:
            EpisodeError: There was no reset yet.
        """
        self._require_state()
        return self._states.copy()

    def action_masks(self) -> CountArray:
        """What each agent can do now, int8 `(num_envs, n, 26)`.

        Raises:
            EpisodeError: There was no reset yet.
        """
        self._require_state()
        return action_masks(self.grid, observations(self.grid, self._states))

    def board(self, world: int) -> Board:
        """A board as it is."""
        return read_state(self.grid, self._states[world])

    def render(self) -> tuple[str | npt.NDArray[np.uint8], ...]:
        """Each board as text or as an image, by `render_mode`.

        Raises:
            WorldError: The environment was made without a render mode.
        """
        if self.render_mode is None:
            raise no_render_mode(self)
        draw = render_ansi if self.render_mode == "ansi" else render_rgb
        return tuple(draw(self.board(world)) for world in range(self.num_envs))

    def _seeded(self, seed: int | Sequence[int | None] | None) -> list[np.random.Generator]:
        going_on: Sequence[np.random.Generator | None] = self._generators or [None] * self.num_envs
        return [
            board_generator(number) if number is not None else generator or np_random(None)[0]
            for number, generator in zip(batch_seeds(seed, self.num_envs), going_on, strict=True)
        ]

    def _begin(self, world: int) -> None:
        board = draw_board(self.grid, self._generators[world])
        write_state(board, self._states[world])
        self._left[world], self._steps[world] = len(board.boxes), 0

    def _finish(self) -> Infos:
        """Keep what the last step of some boards has shown, and begin their next episodes."""
        seen, infos = self._shown()
        flags = self._begins.copy()
        final: Infos = {"final_obs": np.full(self.num_envs, None, dtype=object), "_final_obs": flags}
        if self.info_kind == "plain":
            final |= {"final_info": {name: info.copy() for name, info in infos.items()}, "_final_info": flags}
        for world in np.flatnonzero(flags).tolist():
            final["final_obs"][world] = seen[world].copy()
            self._begin(world)
        self._moved[flags] = self._collided[flags] = False
        self._placed[flags] = 0
        self._begins[:] = False
        return final

    def _shown(self) -> tuple[CountArray, Infos]:
        seen = observations(self.grid, self._states)
        if self.info_kind == "none":
            return seen, {}
        return seen, {
            "action_mask": action_masks(self.grid, seen),
            "moved": self._own(self._moved),
            "placed": self._own(self._placed),
            "boxes_left": self._own(self._left),
            "step": self._own(self._steps),
            "collided": self._own(self._collided),
            "alive": np.ones((self.num_envs, self.n), dtype=np.bool_),
        }

    def _own(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return given(array, copy=self.copy)

    def _require_state(self) -> None:
        if not self._generators:
            raise no_state()

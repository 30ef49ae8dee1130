"""Many boards of grid transportation, stepped in one compiled call."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from llamac_env.transport import arrays
from llamac_env.transport.arrays import (
    CountArray,
    IntArray,
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
from llamac_env.transport.kernel import step_boards
from llamac_env.transport.symbolic.picture import image
from llamac_env.transport.text import render_ansi
from quorum_base.environments.actions import in_range
from quorum_base.environments.batches import Infos, SharedRewardBatch


class TransportVecEnv(SharedRewardBatch):
    """Many independent boards with the rules of `TransportEnv`, as a Gymnasium vector environment.

    A board is one sub-environment and its team acts jointly. Seeds and autoreset work as in `WorldBatch`.

    Observation: int8 `(num_envs, n, places, 5)`, the observation of each agent of `TransportEnv`.
    Action: integers 0..25, shape `(num_envs, n)`.
    Reward: float64 `(num_envs,)`; shared by every agent of a team.
    Episode end: `terminations` and `truncations`, bool `(num_envs,)`, as in `TransportEnv`.
    Infos: `action_mask`, int8 `(num_envs, n, 26)`; `moved`, bool `(num_envs, n)`, whether each agent's move was made;
        `placed` (in this step), `boxes_left` and `step`, int64 `(num_envs,)`; `collided`, bool `(num_envs,)`; `alive`,
        bool `(num_envs, n)`: always true, because agents of this world never die. Empty with `infos="none"`.
    State: `state()`, int8 `(num_envs, 2 rows + 1, 2 columns + 1, 10)`, the states of `TransportEnv`.

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
        infos: `"plain"` or `"none"`.
        copy: Return copies of the arrays; otherwise rewards, ends and some infos are read-only views that the next step
            overwrites.
        autoreset_mode: Gymnasium's `AutoresetMode.NEXT_STEP` or `SAME_STEP`.
        arguments: `max_steps` and `render_mode` of `TransportEnv`.

    Raises:
        WorldError: An argument is invalid; the message names it and gives the reason.
    """

    _seeded = staticmethod(board_generator)

    def __init__(
        self,
        num_envs: int,
        grid: Grid,
        *,
        infos: Literal["none", "plain"] = "plain",
        copy: bool = True,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **arguments: Any,
    ) -> None:
        single = TransportEnv(grid, **arguments)
        super().__init__(num_envs, single, arrays.PRIMITIVES, infos=infos, copy=copy, autoreset_mode=autoreset_mode)
        self.grid, self.max_steps = grid, single.max_steps
        seen = single.observation_space(single.possible_agents[0])["observation"]
        self.single_observation_space = batch_space(seen, self.n)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.state_space: Box = batch_space(self.single_state_space, self.num_envs)  # type: ignore[assignment]
        self._states: CountArray = np.zeros((self.num_envs, *state_shape(grid)), dtype=np.int8)
        self._moved = np.zeros((self.num_envs, self.n), dtype=np.bool_)
        self._placed, self._left, self._steps = (np.zeros(self.num_envs, dtype=np.int64) for _ in range(3))
        self._collided = np.zeros(self.num_envs, dtype=np.bool_)
        self._scratch = np.zeros(self.n, dtype=np.int64), np.zeros(arrays.HALF, dtype=np.int64)

    def _advance(self, joint: IntArray, _given: npt.ArrayLike, /) -> None:
        in_range(joint, arrays.PRIMITIVES)
        step_boards(
            joint, self._begins, geometry(self.grid).slots, self.grid.is_hard,
            self.grid.entry_rule is EntryRule.start_empty, self._states, self._moved, self._placed, self._collided,
            *self._scratch,
        )  # fmt: skip
        went = ~self._begins
        self._steps += went
        self._left -= self._placed
        self._rewards[:] = np.where(went, self._placed - 1.0, 0.0)
        self._terminations[:] = went & ((self._left == 0) | self._collided)
        self._truncations[:] = went & ~self._terminations & (self._steps >= self.max_steps)

    def state(self) -> CountArray:
        """Return the states for a central critic as a copy; see the class.

        Raises:
            EpisodeError: The boards were never reset.
        """
        self._require_state()
        return self._states.copy()

    def action_masks(self) -> CountArray:
        """Return the current action mask of each agent, int8 `(num_envs, n, 26)`.

        Raises:
            EpisodeError: The boards were never reset.
        """
        self._require_state()
        return action_masks(self.grid, observations(self.grid, self._states))

    def board(self, world: int) -> Board:
        """Return the current state of a board."""
        return read_state(self.grid, self._states[world])

    def _begin(self, world: int) -> None:
        board = draw_board(self.grid, self._streams[world])
        write_state(board, self._states[world])
        self._left[world], self._steps[world], self._placed[world] = len(board.boxes), 0, 0
        self._moved[world] = self._collided[world] = False

    def _observations(self) -> CountArray:
        return observations(self.grid, self._states)

    def _plain_infos(self) -> Infos:
        return {
            "action_mask": self.action_masks(),
            "moved": self._own(self._moved),
            "placed": self._own(self._placed),
            "boxes_left": self._own(self._left),
            "step": self._own(self._steps),
            "collided": self._own(self._collided),
        }

    def _text(self, world: int) -> str:
        return render_ansi(self.board(world))

    def _image(self, world: int) -> npt.NDArray[np.uint8]:
        return image(self.board(world))

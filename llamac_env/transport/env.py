"""Grid transportation as a PettingZoo parallel environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Dict, Discrete

from llamac_env.transport.arrays import (
    COLOURS,
    PRIMITIVES,
    CountArray,
    action_masks,
    decode_joint,
    observations,
    state_shape,
    write_state,
)
from llamac_env.transport.board import MOST_OF_A_COLOUR, Board, BoxMove, board_generator, draw_board
from llamac_env.transport.board import Step as BoardStep
from llamac_env.transport.grid import PLACES, Grid
from llamac_env.transport.observation import SIGHTS, Frame, Sight, TransportObservation
from llamac_env.transport.symbolic.picture import image
from llamac_env.transport.text import altered, render_ansi
from quorum_base.environments.actions import numbers
from quorum_base.environments.arguments import no_state, one_of, whole
from quorum_base.environments.errors import WorldError
from quorum_base.environments.parallel import InfoKind, Infos, RenderMode, SharedRewardEnv, Step, metadata
from quorum_base.environments.spaces import masked_observation

Observation = dict[str, npt.NDArray[np.int8]]

USUAL_LIMIT = 30
"""Published step limit of an episode."""
LARGE_LIMIT = 40
"""Step limit on grids of at least `LARGE` cells; published for 4 x 8."""
LARGE = 32


def usual_limit(cells: int) -> int:
    """Return the published step limit of a grid: 30, and 40 for 4 x 8 and larger."""
    return LARGE_LIMIT if cells >= LARGE else USUAL_LIMIT


class TransportEnv(SharedRewardEnv[Dict, Discrete]):
    """One agent in each cell passes coloured boxes on until each is on a target of its colour.

    Observation: a dictionary per agent. `observation`: int8 `(places, 5)`, by colour: the boxes at the places within
        its reach, and last the targets in its cell. Easy has one such place, its cell; hard its four corners.
        `action_mask`: int8 `(26,)`, 1 for the possible actions.
    Action: `Discrete(26)`, see `llamac_env.transport.arrays`. An impossible action fails without other effects, and the
        report gives the reason.
    Reward: for every agent -1, and +1 for each box placed in this step.
    Episode end: terminated when no box is left, or when two boxes are on one corner (`collided` distinguishes them);
        truncated at `max_steps`. For all agents at once.
    Infos: `moved`, whether the agent's own move was made; `placed`, the boxes placed in the step; `boxes_left`; `step`;
        and `collided`, whether two boxes are on one corner. Empty with `infos="none"`. With `infos="symbolic"` they are
        replaced by `symbolic`, the agent's `TransportObservation`, and `report`, the step's `Step`, None after a reset.
        The action mask is in the observation.
    State: `state()` is the whole board, int8 `(2 rows + 1, 2 columns + 1, 10)`, by place in half units: the boxes there
        by colour, then the targets; an agent is its cell.
    Copies: all arrays belong to the caller; with `copy=False` they are read-only. `copy.deepcopy` and pickles continue
        exactly like the original.

    Example:
        ```python
        env = TransportEnv(Grid(2, 2, Difficulty.easy))
        observations, infos = env.reset(seed=0)
        while env.agents:
            actions = {a: env.action_space(a).sample(observations[a]["action_mask"]) for a in env.agents}
            observations, rewards, terminations, truncations, infos = env.step(actions)
        ```

    Args:
        grid: The cells, the difficulty and the entry rule.
        max_steps: Steps after which an episode is truncated; None: the published limit.
        view: What agents see in symbolic observations: the whole `"board"`, or only their own cell (`"local"`).
        render_mode: `"human"`: every reset and step writes the text of the world to the terminal. Otherwise `render()`
            returns that text (`"ansi"`) or uint8 `(height, width, 3)` (`"rgb_array"`).
        infos: Content of the infos: `"plain"` numbers, `"none"`, or `"symbolic"`.
        copy: Return copies of the arrays.

    Raises:
        WorldError: An argument is invalid; the message names it and gives the reason.
    """

    metadata: ClassVar[dict[str, Any]] = metadata("transport_v0", 2)
    _seeded = staticmethod(board_generator)

    def __init__(
        self,
        grid: Grid,
        *,
        max_steps: int | None = None,
        view: Sight = "board",
        render_mode: RenderMode | None = None,
        infos: InfoKind = "plain",
        copy: bool = True,
    ) -> None:
        if not isinstance(grid, Grid):
            raise WorldError(f"grid is a {type(grid).__name__}, not a Grid: TransportEnv(Grid(2, 4, Difficulty.easy))")
        self.grid = grid
        self.max_steps = whole("max_steps", max_steps, 1) if max_steps is not None else usual_limit(grid.agents)
        self.view = one_of("view", view, SIGHTS)
        shape = (PLACES + 1 if grid.is_hard else 2, len(COLOURS))
        spaces = masked_observation(Box(0, MOST_OF_A_COLOUR, shape, dtype=np.int8), PRIMITIVES)
        self.state_space = Box(0, MOST_OF_A_COLOUR, state_shape(grid), dtype=np.int8)
        super().__init__(
            grid.agents, spaces, lambda: Discrete(PRIMITIVES), render_mode=render_mode, infos=infos, copy=copy
        )
        self._board: Board | None = None
        self._frame: Frame | None = None
        self.steps = 0
        """Steps taken in the episode."""
        self.boxes = 0
        """Boxes at the start, plus those added and minus those removed by changes from outside."""

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Observation], Infos]:
        """Start an episode.

        Args:
            seed: Restarts the stream that boards are drawn from. Without a seed the stream continues, or starts at
                random.
            options: `{"board": Board(...)}` sets the board of this episode; it draws nothing from the stream.

        Returns:
            Observations and infos by agent.

        Raises:
            LayoutError: The board is invalid.
            WorldError: The seed is not an integer >= 0, or the board has another grid.
        """
        board = (options or {}).get("board")
        generator = self._stream(seed)
        if board is None:
            board = draw_board(self.grid, generator)
        elif not isinstance(board, Board) or board.grid != self.grid:
            raise WorldError('options["board"] is not a Board of this environment\'s grid')
        self._board = board.check()
        self.report = self._frame = None
        self.steps, self.boxes = 0, len(board.boxes)
        return self._started()

    def step(self, actions: Mapping[str, int]) -> Step:
        """Advance by one joint action.

        Args:
            actions: One action per agent, by name; the order of the names does not matter.

        Returns:
            Observations, rewards, terminations, truncations and infos by agent; also complete at the last step.

        Raises:
            ActionError: An agent has no action in 0..25, or a name is unknown; nothing has moved.
            EpisodeError: No episode is running.
        """
        self._require_running()
        joint = numbers(actions, self.possible_agents, PRIMITIVES)
        report = self.step_moves(decode_joint(self.grid, joint))
        over = not report.board.boxes or bool(report.collisions)
        return self._stepped(
            float(len(report.placed) - 1), terminated=over, truncated=not over and self.steps >= self.max_steps
        )

    def step_moves(self, joint: Mapping[int, BoxMove]) -> BoardStep:
        """Advance by one joint action, given as moves by agent; missing agents do nothing.

        Raises:
            EpisodeError: No episode is running.
        """
        self._require_running()
        self.report = report = self.board.after(joint)
        self._board, self._frame = report.board, None
        self.steps += 1
        if not report.board.boxes or report.collisions or self.steps >= self.max_steps:
            self.agents = []
        return report

    def change(self, changes: Mapping[str, Any]) -> bool:
        """Change the contents of some places between two steps; see `llamac_env.transport.text`.

        Removed boxes do not count as placed, and added boxes must be placed, too.

        Returns:
            Whether anything changed.

        Raises:
            LayoutError: The changes are malformed or the resulting board is impossible; nothing has changed.
            EpisodeError: No episode is running.
        """
        self._require_running()
        before, now = self.board, altered(self.board, changes)
        if now == before:
            return False
        self.boxes += len(now.boxes) - len(before.boxes)
        self._board, self._frame = now, None
        return True

    @property
    def board(self) -> Board:
        """The state.

        Raises:
            EpisodeError: The environment was never reset.
        """
        if self._board is None:
            raise no_state()
        return self._board

    def limit(self, max_steps: int) -> None:
        """Truncate episodes after `max_steps` steps from now on, including the current one."""
        self.max_steps = max_steps
        self._frame = None

    def symbolic_observation(self, index: int | None) -> TransportObservation:
        """Return an agent's observation; None: that of an outside observer."""
        if self._frame is None:
            self._frame = Frame(self.board, self.steps, self.max_steps, self.boxes, self.view)
        return self._frame.observe(index)

    def state(self) -> CountArray:
        """Return the whole board as a copy; see the class."""
        found = np.zeros(self.state_space.shape, dtype=np.int8)
        write_state(self.board, found)
        return found

    def action_masks(self) -> dict[str, CountArray]:
        """Return the current action mask of each agent, int8 `(26,)`, by name, as in the observations."""
        return dict(zip(self.agents, action_masks(self.grid, observations(self.grid, self.state())), strict=False))

    def _observations(self) -> dict[str, Observation]:
        seen = observations(self.grid, self.state())
        return self._masked(seen, action_masks(self.grid, seen))

    def _plain_infos(self) -> Infos:
        report = self.report
        moved = frozenset(report.moved) if report is not None else frozenset()
        team = {
            "placed": len(report.placed) if report is not None else 0,
            "boxes_left": len(self.board.boxes),
            "step": self.steps,
            "collided": report is not None and bool(report.collisions),
        }
        return {name: {"moved": agent in moved, **team} for agent, name in enumerate(self.possible_agents)}

    def _text(self) -> str:
        return render_ansi(self.board)

    def _image(self) -> npt.NDArray[np.uint8]:
        return image(self.board)

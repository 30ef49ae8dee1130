"""Base of all controllers: ticks, time-outs, the entry in the agent's history, and the end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final

from cube_env.constants import DISPLACEMENT, Action, Cell
from cube_env.observation import RUNNING, HistoryEntry
from cube_env.symbolic.episode_state import EpisodeState
from maeil.actions import ActionStatus, SymbolicAction
from maeil.controllers import SUCCESS, failed
from maeil.world import ActionEnd
from quorum_base.drawing import Way

DEFAULT_TIMEOUT_SIDES: Final = 6
"""Default time-out in sides of the grid, as in the authors' own environment."""

STAY: Final = int(Action.STAY)

BLOCK_GONE: Final = failed("block_gone")
NOT_ALIGNED: Final = failed("not_aligned")


class CubeController(ABC):
    """Base of the controllers of CUBE; they implement `maeil.world.Controller`.

    The result of `check` depends on the state and the agent's own ticks, so it runs once per state.

    Args:
        episode: state shared by the controllers of the episode.
        agent: index of the agent.
        action: the action to carry out.
        timeout: ticks after which the action gives up; None: 6 sides of the grid.
    """

    def __init__(self, episode: EpisodeState, agent: int, action: SymbolicAction, timeout: int | None) -> None:
        self.episode = episode
        self.agent = agent
        self.timeout = timeout if timeout is not None else DEFAULT_TIMEOUT_SIDES * episode.state.side
        self.ticks = 0
        self.step = STAY
        """The primitive for the coming step; `check` sets it while the action runs."""
        self._action = action
        self._primitives: list[int] = []
        self._end: ActionEnd | None = None
        self._closed = False
        self._checked_at = -1
        episode.roster.begin(agent, self.entry)

    def status(self) -> ActionEnd | None:
        """Return the end of the action in the current state; None while it runs."""
        version = self.episode.version
        if self._checked_at != version:
            self._checked_at = version
            self._end = self.check()
            if self._end is None and self.ticks >= self.timeout:
                self._end = self.out_of_time()
        return self._end

    def act(self) -> int:
        """Return the primitive for the coming step."""
        self.ticks += 1
        self._primitives.append(self.step)
        return self.step

    def close(self) -> None:
        """Release shared resources and write the history entry."""
        self.let_go()
        self._closed = True
        self.episode.roster.end(self.agent, self.entry())

    def entry(self) -> HistoryEntry:
        """Return the entry for the agent's history."""
        status = self._end.status if self._end is not None else ActionStatus.CANCELLED if self._closed else RUNNING
        reason = self._end.reason if self._end is not None else ""
        return HistoryEntry(self._action.action, self._action.arguments(), tuple(self._primitives), str(status), reason)

    @abstractmethod
    def check(self) -> ActionEnd | None:
        """Return success or failure; if the action goes on, set the primitive of the coming step and return None."""

    def out_of_time(self) -> ActionEnd:
        """Return the end of an action that ran out of ticks; a time-out by default."""
        return ActionEnd(ActionStatus.TIMEOUT, self.progress())

    def way(self) -> Way | None:
        """Return the action's path for pictures (`quorum_base.drawing.ShowsWays`); no path by default."""
        return None

    def way_over(self, cells: Sequence[Cell], target: tuple[int, int, int, int] | None = None) -> Way:
        """Return the way over cells to a target, by default the last cell."""
        start = self.episode.cell_of(self.agent)
        row, col = cells[-1] if cells else start
        return Way(tuple((c + 0.5, r + 0.5) for r, c in (start, *cells)), target or (col, row, 1, 1))

    def progress(self) -> str:
        """Return the action's progress, for the reason of a time-out: an identifier followed by numbers."""
        return f"not_reached after {self.ticks} steps"

    def let_go(self) -> None:
        """Release shared resources; does nothing by default."""
        return


class RepeatController(CubeController):
    """Repeat one primitive for some steps, whether the board allows it or not."""

    def __init__(
        self, episode: EpisodeState, agent: int, action: SymbolicAction, primitive: Action, steps: int
    ) -> None:
        super().__init__(episode, agent, action, steps)
        self.step = int(primitive)

    def check(self) -> ActionEnd | None:
        """Run until the steps are over."""
        return SUCCESS if self.ticks >= self.timeout else None

    def way(self) -> Way | None:
        """Return the way straight on, up to the first obstacle."""
        down, right = DISPLACEMENT[Action(self.step)]
        row, col = self.episode.cell_of(self.agent)
        grid, cells = self.episode.state.grid, []
        for _ in range(self.timeout - self.ticks if down or right else 0):
            row, col = row + down, col + right
            if not (0 <= row < len(grid) and 0 <= col < len(grid)) or grid[row, col] != 0:
                break
            cells.append((row, col))
        return self.way_over(cells) if cells else None

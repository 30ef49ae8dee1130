"""What all controllers have in common: ticks, death, the end, and the entry in the agent's history."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final

from crafter_env.constants import DISPLACEMENT, Action, Cell
from crafter_env.kernels.aiming import NO_CELL
from crafter_env.observation import PastAction
from crafter_env.symbolic.episode_state import EpisodeState
from crafter_env.symbolic.reasons import Reason
from maeil.actions import ActionStatus, SymbolicAction
from maeil.controllers import SUCCESS, failed
from maeil.drawing import Way
from maeil.world import ActionEnd

NOOP: Final = int(Action.noop)
DO: Final = int(Action.do)


class CrafterController(ABC):
    """Base of the controllers of the open world; they fulfil `maeil.world.Controller`.

    What `check` answers depends on the state and the agent's own ticks, so it is asked once for each state.

    Args:
        episode: what the controllers of the episode share.
        agent: index of the agent.
        action: what it carries out.
    """

    def __init__(self, episode: EpisodeState, agent: int, action: SymbolicAction) -> None:
        self.episode = episode
        self.agent = agent
        self.ticks = 0
        self.step = NOOP
        """The primitive for the coming step; `check` decides it while the action goes on."""
        self._action = action
        self._end: ActionEnd | None = None
        self._checked_at = -1

    def status(self) -> ActionEnd | None:
        """Return the end of the action in the state as it is; None while it runs."""
        if self._checked_at != self.episode.version:
            self._checked_at = self.episode.version
            self._end = self.check() if self.episode.lives(self.agent) else self.when_dead()
        return self._end

    def act(self) -> int:
        """Return the primitive for the coming step."""
        self.ticks += 1
        return self.step

    def close(self) -> None:
        """Let go of what is shared, and write the entry."""
        self.episode.named[self.agent] = NO_CELL
        end = self._end if self._end is not None else ActionEnd(ActionStatus.CANCELLED)
        action = self._action
        self.episode.record(
            self.agent, PastAction(action.action, action.arguments(), str(end.status), end.reason, self.ticks)
        )

    def way(self) -> Way | None:
        """Return where the action leads, for pictures: see `maeil.drawing.ShowsWays`; the default leads nowhere."""
        return None

    def way_over(self, cells: Sequence[Cell], target: Cell | None = None) -> Way:
        """Return the way over cells to a target; the last of them unless there is another one."""
        start = self.episode.cell_of(self.agent)
        x, y = target or (cells[-1] if cells else start)
        return Way(tuple((u + 0.5, v + 0.5) for u, v in (start, *cells)), (x, y, 1, 1))

    @abstractmethod
    def check(self) -> ActionEnd | None:
        """Return success or failure; while there is neither, decide the coming step and return None."""

    def when_dead(self) -> ActionEnd | None:
        """Return the end of a dead agent's action."""
        return failed(Reason.dead)


class RepeatController(CrafterController):
    """Do one primitive for some steps, whether the map allows it or not."""

    def __init__(
        self, episode: EpisodeState, agent: int, action: SymbolicAction, primitive: Action, steps: int
    ) -> None:
        super().__init__(episode, agent, action)
        self.step = int(primitive)
        self._steps = steps

    def check(self) -> ActionEnd | None:
        """Nothing ends it but its steps."""
        return SUCCESS if self.ticks >= self._steps else None

    def way(self) -> Way | None:
        """Straight on, as far as it is free."""
        right, down = DISPLACEMENT[Action(self.step)]
        cells = [self.episode.cell_of(self.agent)]
        while len(cells) <= self._steps - self.ticks:
            there = cells[-1][0] + right, cells[-1][1] + down
            if not self.episode.is_free(there):
                break
            cells.append(there)
        return self.way_over(cells[1:]) if len(cells) > 1 else None


class RefusedAction(CrafterController):
    """An action that cannot begin: it fails before its first tick."""

    def __init__(self, episode: EpisodeState, agent: int, action: SymbolicAction, refusal: ActionEnd) -> None:
        super().__init__(episode, agent, action)
        self._refusal = refusal

    def check(self) -> ActionEnd | None:
        """Fail."""
        return self._refusal

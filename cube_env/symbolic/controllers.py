"""One controller for each symbolic action: primitives tick by tick, and an explicit end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

from cube_env.constants import PUSH_DIRECTION, Action, Face
from cube_env.symbolic.actions import Idle, MoveToBlock, PushBlock, Rendezvous
from cube_env.symbolic.ground import FaceKey, Ground, Meeting
from maeil.actions import ActionStatus, SymbolicAction
from maeil.world import Ended

DEFAULT_TIMEOUT_SIDES: Final = 6
"""Time-out in sides of the grid when none is given; the authors' own environment sets the same."""

SUCCESS: Final = Ended(ActionStatus.SUCCESS)
BLOCK_GONE: Final = Ended(ActionStatus.FAILED, "block_gone")
NOT_ALIGNED: Final = Ended(ActionStatus.FAILED, "not_aligned")
NO_STAGING_CELL: Final = Ended(ActionStatus.FAILED, "no_staging_cell")
NO_PATH: Final = Ended(ActionStatus.FAILED, "no_path")


class CubeController(ABC):
    """Base of the controllers of CUBE; they fulfil `maeil.world.Controller`.

    Args:
        ground: what the controllers of the episode share.
        agent: index of the agent.
        timeout: ticks after which the action gives up; None: 6 sides of the grid.
    """

    def __init__(self, ground: Ground, agent: int, timeout: int | None = None) -> None:
        self.ground = ground
        self.agent = agent
        self.timeout = timeout if timeout is not None else DEFAULT_TIMEOUT_SIDES * ground.state.side
        self.ticks = 0

    def status(self) -> Ended | None:
        """Tell whether the action has ended in the state as it is."""
        end = self.check()
        if end is None and self.ticks >= self.timeout:
            end = Ended(ActionStatus.TIMEOUT, self.progress())
        return end

    def act(self) -> int:
        """Give the primitive for the coming step."""
        self.ticks += 1
        return self.primitive()

    @abstractmethod
    def check(self) -> Ended | None:
        """Tell whether the action has succeeded or failed."""

    def primitive(self) -> Action:
        """Give the primitive for the coming step; the default stays."""
        return Action.STAY

    def progress(self) -> str:
        """Tell how far the action came, for the reason of a time-out."""
        return f"{self.ticks} steps"

    def close(self) -> None:
        """Let go of what is shared; the default holds nothing."""
        return


class IdleController(CubeController):
    """Stay for some steps."""

    def __init__(self, ground: Ground, agent: int, action: Idle) -> None:
        super().__init__(ground, agent, action.steps)

    def check(self) -> Ended | None:
        """End after the steps."""
        return SUCCESS if self.ticks >= self.timeout else None


class MoveToBlockController(CubeController):
    """Go to a free cell of a block's face, or to the end of a line of agents at it.

    Two things keep a team from shutting itself out. An agent in a line goes on while it can reach a free cell of the
    face. And one on a face cell goes on along the face where that is the only way to the cells beyond.
    """

    def __init__(self, ground: Ground, agent: int, action: MoveToBlock) -> None:
        super().__init__(ground, agent, action.timeout)
        self._key: FaceKey = action.block, action.face
        self._last = Action.STAY
        ground.seek(agent, self._key)

    def check(self) -> Ended | None:
        """End when aligned, or when there is nothing to go to or no way to it."""
        if not self.ground.is_live(self._key[0]):
            return BLOCK_GONE
        place = self.ground.place_in_line(self.agent, self._key)
        if place == 0:
            return SUCCESS if self._way_on() is Action.STAY else None
        if not self.ground.has_staging_cell(self._key):
            return NO_STAGING_CELL
        if place > 0 and self.ground.is_cut_off(self.agent, self._key):
            return SUCCESS
        return NO_PATH if self.ground.step_to(self.agent, self._key) is None else None

    def primitive(self) -> Action:
        """Follow a shortest way, or the face."""
        place = self.ground.place_in_line(self.agent, self._key)
        step = self._way_on() if place == 0 else self.ground.step_to(self.agent, self._key)
        self._last = step or Action.STAY
        return self._last

    def _way_on(self) -> Action:
        return self.ground.way_on(self.agent, self._key, self._last) if self.ticks else Action.STAY

    def close(self) -> None:
        """Leave the seekers of the face."""
        self.ground.stop_seeking(self.agent, self._key)


class RendezvousController(CubeController):
    """Wait at a face until enough agents wait there; all of them are released in the same tick."""

    def __init__(self, ground: Ground, agent: int, action: Rendezvous) -> None:
        super().__init__(ground, agent, action.timeout)
        self._key: FaceKey = action.block, action.face
        self._count = action.count
        self._meeting = ground.meetings.setdefault(self._key, Meeting())
        if ground.is_live(action.block) and ground.is_aligned(agent, self._key):
            self._meeting.waiting[agent] = action.count

    def check(self) -> Ended | None:
        """End when released; fail when the agent is not, or no longer, aligned."""
        if not self.ground.is_live(self._key[0]):
            return BLOCK_GONE
        if self.agent in self._meeting.released:
            return SUCCESS
        if not self.ground.is_aligned(self.agent, self._key):
            self._meeting.waiting.pop(self.agent, None)
            return NOT_ALIGNED
        self._meeting.release()
        return SUCCESS if self.agent in self._meeting.released else None

    def progress(self) -> str:
        """Tell how many came."""
        return f"{len(self._meeting.waiting)} of {self._count} agents"

    def close(self) -> None:
        """Leave the meeting; the last one clears the place."""
        self._meeting.waiting.pop(self.agent, None)
        self._meeting.released.discard(self.agent)
        if not self._meeting.waiting and self.ground.meetings.get(self._key) is self._meeting:
            del self.ground.meetings[self._key]


class PushBlockController(CubeController):
    """Push a block away from the face that the agent is aligned with; counts cells that the block has moved."""

    def __init__(self, ground: Ground, agent: int, action: PushBlock) -> None:
        super().__init__(ground, agent, action.timeout)
        self._block = action.block
        self._steps = action.steps
        self._moved = 0
        self._face: Face | None = None
        if ground.is_live(action.block):
            self._face = ground.face_of(agent, action.block)
            self._cell = ground.cell(action.block)

    def check(self) -> Ended | None:
        """End when the block has moved far enough or is delivered; fail when the agent is not aligned."""
        if not self.ground.is_live(self._block):
            return SUCCESS if self.ticks else BLOCK_GONE
        if self._face is None:
            return NOT_ALIGNED
        cell = self.ground.cell(self._block)
        if cell != self._cell:
            self._moved += 1
            self._cell = cell
        if self._moved >= self._steps:
            return SUCCESS
        return None if self.ground.is_aligned(self.agent, (self._block, self._face)) else NOT_ALIGNED

    def primitive(self) -> Action:
        """Push."""
        assert self._face is not None
        return PUSH_DIRECTION[self._face]

    def progress(self) -> str:
        """Tell how far the block moved."""
        return f"moved {self._moved} of {self._steps}"


def control(ground: Ground, agent: int, action: SymbolicAction) -> CubeController:
    """Start the controller of an action."""
    match action:
        case MoveToBlock():
            return MoveToBlockController(ground, agent, action)
        case Rendezvous():
            return RendezvousController(ground, agent, action)
        case PushBlock():
            return PushBlockController(ground, agent, action)
        case Idle():
            return IdleController(ground, agent, action)
        case _:
            raise TypeError(f"CUBE has no controller for {type(action).__name__}")

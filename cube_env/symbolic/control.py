"""Controllers: each turns one symbolic action into primitives, tick by tick."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from cube_env.arrays import IntArray
from cube_env.constants import DISPLACEMENT, OPPOSITE_FACE, PUSH_DIRECTION, Action, Cell, Face, PushOutcome
from cube_env.observation import RUNNING, HistoryEntry
from cube_env.state import CubeState
from cube_env.symbolic.actions import (
    Entity,
    Idle,
    Move,
    MoveToBlock,
    Navigate,
    PushBlock,
    PushTowards,
    Rendezvous,
    Wait,
    WaitAgents,
    YieldBlock,
)
from cube_env.symbolic.episode_state import NO_BLOCK, EpisodeState, FaceKey, Meeting
from cube_env.symbolic.naming import missing_entity
from cube_env.symbolic.tasks import push_task
from maeil.actions import ActionStatus, SymbolicAction
from maeil.controllers import SUCCESS, failed
from maeil.drawing import Way
from maeil.world import ActionEnd

Rectangle = tuple[float, float, float, float]


def way_over(start: Cell, cells: Sequence[Cell], target: Rectangle | None = None) -> Way:
    """Return the way from a cell over others; its target is the last of them unless another is given."""
    points = tuple((col + 0.5, row + 0.5) for row, col in (start, *cells))
    row, col = cells[-1] if cells else start
    return Way(points, target or (col, row, 1, 1))


def square_of(episode: EpisodeState, block: int) -> Rectangle:
    """Return where a block lies."""
    row, col, weight, _ = episode.blocks[block]
    return col, row, weight, weight


def is_there(state: CubeState, place: Navigate, agent: int) -> bool:
    """Whether an agent is at a place: next to the other agent, in the goal column, or on the cell."""
    row, col = state.agents[agent].tolist()
    if place.entity is Entity.agent:
        assert place.id is not None
        other_row, other_col = state.agents[place.id].tolist()
        return bool(abs(row - other_row) + abs(col - other_col) == 1)
    if place.entity is Entity.goal:
        return bool(col == state.side - 1)
    return (row, col) == place.cell


def find_place(state: CubeState, place: Navigate, targets: IntArray) -> tuple[int, bool]:
    """Find the cells of a place: the free ones, or, when there is none, those where agents stand.

    Args:
        state: the arrays.
        place: where to go.
        targets: (K, 2) the cells, written here.

    Returns:
        The number of cells, and whether agents stand on all of them; 0 when all are blocks and walls.
    """
    codes = [(cell, int(state.grid[cell])) for cell in _cells(state, place)]
    free = [cell for cell, code in codes if code == 0]
    found = free or [cell for cell, code in codes if code > 0]
    if found:
        targets[: len(found)] = found
    return len(found), not free


def _cells(state: CubeState, place: Navigate) -> list[Cell]:
    last = state.side - 1
    if place.entity is Entity.goal:
        return [(row, last) for row in range(state.side)]
    if place.entity is Entity.cell:
        assert place.cell is not None
        return [place.cell]
    row, col = state.agents[place.id].tolist()
    around = (row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)
    return [(r, c) for r, c in around if 0 <= r <= last and 0 <= c <= last]


DEFAULT_TIMEOUT_SIDES: Final = 6
"""Time-out in sides of the grid when none is given; the authors' own environment sets the same."""

STAY: Final = int(Action.STAY)

BLOCK_GONE: Final = failed("block_gone")
NOT_ALIGNED: Final = failed("not_aligned")


class CubeController(ABC):
    """Base of the controllers of CUBE; they fulfil `maeil.world.Controller`.

    What `check` answers depends on the state and the agent's own ticks, so it is asked once for each state.

    Args:
        episode: what the controllers of the episode share.
        agent: index of the agent.
        action: what it carries out.
        timeout: ticks after which the action gives up; None: 6 sides of the grid.
    """

    def __init__(self, episode: EpisodeState, agent: int, action: SymbolicAction, timeout: int | None) -> None:
        self.episode = episode
        self.agent = agent
        self.timeout = timeout if timeout is not None else DEFAULT_TIMEOUT_SIDES * episode.state.side
        self.ticks = 0
        self.step = STAY
        """The primitive for the coming step; `check` decides it while the action goes on."""
        self._action = action
        self._primitives: list[int] = []
        self._end: ActionEnd | None = None
        self._closed = False
        self._checked_at = -1
        episode.roster.begin(agent, self.entry)

    def status(self) -> ActionEnd | None:
        """Return the end of the action in the state as it is; None while it runs."""
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
        """Let go of what is shared, and write the entry."""
        self.let_go()
        self._closed = True
        self.episode.roster.end(self.agent, self.entry())

    def entry(self) -> HistoryEntry:
        """Return the entry in the agent's history."""
        status = self._end.status if self._end is not None else ActionStatus.CANCELLED if self._closed else RUNNING
        reason = self._end.reason if self._end is not None else ""
        return HistoryEntry(self._action.action, self._action.arguments(), tuple(self._primitives), str(status), reason)

    @abstractmethod
    def check(self) -> ActionEnd | None:
        """Return success or failure; while there is neither, decide the coming step and return None."""

    def out_of_time(self) -> ActionEnd:
        """Return the end of an action whose ticks are over; the default is a time-out."""
        return ActionEnd(ActionStatus.TIMEOUT, self.progress())

    def way(self) -> Way | None:
        """Return where the action leads, for pictures: see `maeil.drawing.ShowsWays`; the default leads nowhere."""
        return None

    def progress(self) -> str:
        """Return how far the action came, for the reason of a time-out: an identifier, with numbers behind it."""
        return f"not_reached after {self.ticks} steps"

    def let_go(self) -> None:
        """Let go of what is shared; the default holds nothing."""
        return


class SharedController(CubeController):
    """A controller whose end depends on what other agents' actions do in the same state, so it is asked every time."""

    def status(self) -> ActionEnd | None:
        """Return the end of the action in the state as it is; None while it runs."""
        self._checked_at = -1
        return super().status()


class RepeatController(CubeController):
    """Do one primitive for some steps, whether the board allows it or not."""

    def __init__(
        self, episode: EpisodeState, agent: int, action: SymbolicAction, primitive: Action, steps: int
    ) -> None:
        super().__init__(episode, agent, action, steps)
        self.step = int(primitive)

    def check(self) -> ActionEnd | None:
        """Nothing ends it but its steps."""
        return SUCCESS if self.ticks >= self.timeout else None

    def way(self) -> Way | None:
        """Straight on, as far as nothing stands in the way."""
        down, right = DISPLACEMENT[Action(self.step)]
        row, col = self.episode.cell_of(self.agent)
        grid, cells = self.episode.state.grid, []
        for _ in range(self.timeout - self.ticks if down or right else 0):
            row, col = row + down, col + right
            if not (0 <= row < len(grid) and 0 <= col < len(grid)) or grid[row, col] != 0:
                break
            cells.append((row, col))
        return way_over(self.episode.cell_of(self.agent), cells) if cells else None


class RefusedAction(CubeController):
    """An action that cannot begin: it fails before its first tick."""

    def __init__(self, episode: EpisodeState, agent: int, action: SymbolicAction, reason: str) -> None:
        super().__init__(episode, agent, action, None)
        self._refusal = failed(reason)

    def check(self) -> ActionEnd | None:
        """Fail."""
        return self._refusal


NO_STAGING_CELL = failed("no_staging_cell")
NO_PATH = failed("no_path")


class YieldBlockController(RepeatController):
    """Walk straight away from a face for some steps, whether the board allows them or not."""

    def __init__(self, episode: EpisodeState, agent: int, action: YieldBlock) -> None:
        super().__init__(episode, agent, action, PUSH_DIRECTION[OPPOSITE_FACE[action.face]], action.steps)
        self._key: FaceKey = action.block, action.face

    def check(self) -> ActionEnd | None:
        """Fail when the agent is not aligned at its first tick, or the block is delivered."""
        if not self.episode.is_live(self._key[0]):
            return BLOCK_GONE
        aligned = self.ticks or self.episode.is_aligned(self.agent, self._key)
        return super().check() if aligned else NOT_ALIGNED


class MoveToBlockController(CubeController):
    """Go to a free cell of a block's face, or to the end of a line of agents at it.

    Two things keep a team from shutting itself out. An agent in a line goes on while it can reach a free cell of the
    face. And one on a face cell goes on along the face where that is the only way to the cells beyond.
    """

    def __init__(
        self, episode: EpisodeState, agent: int, action: SymbolicAction, key: FaceKey, timeout: int | None
    ) -> None:
        super().__init__(episode, agent, action, timeout)
        self._key = key
        episode.aim(agent, key)
        self._route = episode.seek(agent, key, partial(episode.staging_targets, key))

    def check(self) -> ActionEnd | None:
        """End when aligned, or when there is nothing to go to or no way to it."""
        episode, agent = self.episode, self.agent
        if not episode.is_live(self._key[0]):
            return BLOCK_GONE
        place = episode.places[agent]
        if place == 0:
            self.step = episode.way_on(agent, self._key, self.step) if self.ticks else STAY
            return SUCCESS if self.step == STAY else None
        route = self._route.measure(episode.version)
        if not route.targets:
            return NO_STAGING_CELL
        if place > 0 and (route.full or route.cut_off[agent]):
            return SUCCESS
        step = route.steps[agent]
        if step < 0:
            return NO_PATH
        self.step = STAY if episode.lets_pass(agent) else step
        return None

    def way(self) -> Way:
        """To the face, and along it where the agent would shut others out."""
        episode, agent, start = self.episode, self.agent, self.episode.cell_of(self.agent)
        cells = self._route.way(agent) if episode.places[agent] != 0 else []
        cells += episode.way_along(agent, self._key, [start, *cells], self.step)
        return way_over(start, cells, square_of(episode, self._key[0]))

    def let_go(self) -> None:
        """Leave the seekers of the face."""
        self.episode.stop_seeking(self.agent, self._key)


class NavigateController(CubeController):
    """Go to a place that is no face of a block: next to an agent, into the goal column, to a cell."""

    def __init__(self, episode: EpisodeState, agent: int, action: Navigate) -> None:
        super().__init__(episode, agent, action, action.timeout)
        self._place = action
        self._key = action.entity, action.id, action.cell
        self._route = episode.seek(agent, self._key, partial(find_place, episode.state, action))

    def check(self) -> ActionEnd | None:
        """End on arrival, or when blocks and walls leave no way."""
        if is_there(self.episode.state, self._place, self.agent):
            return SUCCESS
        route = self._route.measure(self.episode.version)
        if not route.targets or route.steps[self.agent] < 0:
            return NO_PATH
        self.step = STAY if self.episode.lets_pass(self.agent) else route.steps[self.agent]
        return None

    def way(self) -> Way:
        """To the nearest cell of the place."""
        start, other = self.episode.cell_of(self.agent), self._place
        if other.entity is not Entity.agent:
            return way_over(start, self._route.way(self.agent))
        assert other.id is not None
        row, col = self.episode.cell_of(other.id)
        return way_over(start, self._route.way(self.agent), (col, row, 1, 1))

    def let_go(self) -> None:
        """Leave the seekers of the place."""
        self.episode.stop_seeking(self.agent, self._key)


_MOVED = PushOutcome.moved, PushOutcome.delivered


class PushBlockController(CubeController):
    """Push a block away from the face that the agent is aligned with; counts cells that the block has moved."""

    def __init__(self, episode: EpisodeState, agent: int, action: PushBlock) -> None:
        super().__init__(episode, agent, action, action.timeout)
        self._block = action.block
        self._steps = action.steps
        self._moved = 0
        self._pushed_to = episode.pushed_to(action.block)
        face = episode.face_of(agent, action.block)
        if face is not None:
            self.step = int(PUSH_DIRECTION[face])
            episode.aim(agent, (action.block, face))
            episode.pushing[agent] = action.block

    def check(self) -> ActionEnd | None:
        """End when the block has moved far enough or is delivered; fail when the agent is not aligned."""
        if not self.episode.is_live(self._block):
            return SUCCESS if self.ticks and not self.episode.was_removed(self._block) else BLOCK_GONE
        if self.step == STAY:
            return NOT_ALIGNED
        cell = self.episode.pushed_to(self._block)
        if cell != self._pushed_to:
            self._pushed_to = cell
            self._moved += 1
        if self._moved >= self._steps:
            return SUCCESS
        return None if self.episode.places[self.agent] >= 0 else NOT_ALIGNED

    def way(self) -> Way:
        """With the block, by the cells that it has still to move, up to the edge of the board."""
        row, col, weight, _ = self.episode.blocks[self._block]
        down, right = DISPLACEMENT[Action(self.step)]
        last = self.episode.state.side - weight
        room = last - row if down > 0 else row if down else last - col if right > 0 else col
        start = self.episode.cell_of(self.agent)
        cells = [
            (start[0] + k * down, start[1] + k * right) for k in range(1, min(self._steps - self._moved, room) + 1)
        ]
        return way_over(start, cells, square_of(self.episode, self._block))

    def progress(self) -> str:
        """Return how far the block moved."""
        return f"moved_too_little {self._moved} of {self._steps}"

    def let_go(self) -> None:
        """Push no more."""
        self.episode.pushing[self.agent] = NO_BLOCK


class PushController(CubeController):
    """Push towards a block's centre for some ticks (EmCoop); succeeds when one of them moved the block."""

    def __init__(self, episode: EpisodeState, agent: int, action: PushTowards) -> None:
        super().__init__(episode, agent, action, action.steps)
        self._block = action.block
        self._moved = False
        self._failure = ""
        episode.pushing[agent] = action.block

    def check(self) -> ActionEnd | None:
        """Take in what the last tick did; end early when the block is delivered."""
        if self.ticks:
            self._judge()
        if not self.episode.is_live(self._block):
            return SUCCESS if self._moved else BLOCK_GONE
        self.step = self._towards()
        return None

    def out_of_time(self) -> ActionEnd:
        """Succeed when a tick moved the block, else fail for the reason of the last tick."""
        return SUCCESS if self._moved else failed(self._failure)

    def way(self) -> Way:
        """To the block."""
        return way_over(self.episode.cell_of(self.agent), (), square_of(self.episode, self._block))

    def _judge(self) -> None:
        attempt = self.episode.attempt_of(self.agent)
        if attempt is None:
            self._failure = "no_contact"
        elif attempt.outcome in _MOVED and self.episode.was_displaced(self._block):
            self._moved = True
        elif attempt.block != self._block:
            self._failure = f"pushed_another_block {attempt.block}"
        elif attempt.outcome == PushOutcome.force:
            self._failure = f"insufficient_force {attempt.force} of {attempt.required}"
        else:
            self._failure = f"blocked_destination {PushOutcome(attempt.outcome).name}"

    def _towards(self) -> int:
        """Act along the longer way to the block's centre, horizontally when both are as long."""
        top, left, weight, _ = self.episode.blocks[self._block]
        row, col = self.episode.cell_of(self.agent)
        # Twice the distances, so that the centre of a block of even weight is a whole number.
        down, right = 2 * top + weight - 1 - 2 * row, 2 * left + weight - 1 - 2 * col
        if abs(right) >= abs(down):
            return int(Action.RIGHT if right > 0 else Action.LEFT)
        return int(Action.DOWN if down > 0 else Action.UP)

    def let_go(self) -> None:
        """Push no more."""
        self.episode.pushing[self.agent] = NO_BLOCK


class RendezvousController(SharedController):
    """Wait at a face until enough agents wait there; all of them are released in the same tick."""

    def __init__(self, episode: EpisodeState, agent: int, action: Rendezvous) -> None:
        super().__init__(episode, agent, action, action.timeout)
        self._key: FaceKey = action.block, action.face
        self._count = action.count
        self._meeting = episode.meetings.setdefault(self._key, Meeting())
        if episode.aim(agent, self._key) >= 0:
            self._meeting.join(agent, action.count)

    def check(self) -> ActionEnd | None:
        """End when released; fail when the agent is not, or no longer, aligned."""
        if not self.episode.is_live(self._key[0]):
            return BLOCK_GONE
        if self.agent in self._meeting.released:
            return SUCCESS
        if self.episode.places[self.agent] < 0:
            self._meeting.leave(self.agent)
            return NOT_ALIGNED
        self._meeting.release()
        return SUCCESS if self.agent in self._meeting.released else None

    def way(self) -> Way:
        """It is where it has to be, at the block."""
        return way_over(self.episode.cell_of(self.agent), (), square_of(self.episode, self._key[0]))

    def progress(self) -> str:
        """Return how many came."""
        return f"too_few_agents {len(self._meeting.waiting)} of {self._count}"

    def out_of_time(self) -> ActionEnd:
        """End a wait in vain, which is an attempt at pushing from there."""
        return replace(super().out_of_time(), unmet=push_task(*self._key))

    def let_go(self) -> None:
        """Leave the meeting; the last one clears the place."""
        self._meeting.leave(self.agent)
        if not self._meeting.waiting and self.episode.meetings.get(self._key) is self._meeting:
            del self.episode.meetings[self._key]


class WaitAgentsController(SharedController):
    """Wait until enough agents wait for the team or have nothing to do; those who wait are released together."""

    def __init__(self, episode: EpisodeState, agent: int, action: WaitAgents) -> None:
        super().__init__(episode, agent, action, action.timeout)
        self._count = action.count
        self._free = 0
        self._asked_at = episode.roster.moment
        episode.waiting.join(agent, action.count)

    def check(self) -> ActionEnd | None:
        """End when released."""
        waiting, roster = self.episode.waiting, self.episode.roster
        self._free = roster.free(self.agent, self._asked_at)
        self._asked_at = roster.moment
        waiting.release(self._free)
        return SUCCESS if self.agent in waiting.released else None

    def progress(self) -> str:
        """Return how many were free."""
        return f"too_few_agents {len(self.episode.waiting.waiting) + self._free} of {self._count}"

    def let_go(self) -> None:
        """Wait no more."""
        self.episode.waiting.leave(self.agent)


def make_controller(episode: EpisodeState, agent: int, action: SymbolicAction) -> CubeController:
    """Start the controller of an action; one that names nothing on this board fails before its first tick."""
    missing = missing_entity(episode, agent, action)
    if missing is not None:
        return RefusedAction(episode, agent, action, missing[0])
    match action:
        case Move():
            return RepeatController(episode, agent, action, action.direction.action, action.steps)
        case MoveToBlock():
            return MoveToBlockController(episode, agent, action, (action.block, action.face), action.timeout)
        case Rendezvous():
            return RendezvousController(episode, agent, action)
        case PushBlock():
            return PushBlockController(episode, agent, action)
        case YieldBlock():
            return YieldBlockController(episode, agent, action)
        case Idle() | Wait():
            return RepeatController(episode, agent, action, Action.STAY, action.steps)
        case WaitAgents():
            return WaitAgentsController(episode, agent, action)
        case PushTowards():
            return PushController(episode, agent, action)
        case Navigate(entity=Entity.block, id=int(block)):
            # Blocks are delivered by pushing them right, so the way to a block is the way to its left face.
            return MoveToBlockController(episode, agent, action, (block, Face.left), action.timeout)
        case Navigate():
            return NavigateController(episode, agent, action)
        case _:
            raise TypeError(f"CUBE has no controller for {type(action).__name__}")

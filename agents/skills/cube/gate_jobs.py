"""What a symbolic plan of CUBE comes to: which block its agent pushes from where, and when it is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cube_env import (
    Cell,
    Entity,
    Face,
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
from maeil.actions import SymbolicAction
from maeil.plans import Plan
from quorum.agents.skills.cube.gate_board import Board
from quorum.agents.skills.cube.wording import SIDES

Key = tuple[int, Face]
"""What is done together: a block, and the face from which it is pushed."""


@dataclass(frozen=True, slots=True)
class PushTask:
    """A push that an agent takes part in.

    Attributes:
        agent: its index.
        block: what is pushed.
        face: from where; None when the plan pushes from where the agent stands, and that is at no face.
        steps: cells to push; or steps to push for, when it pushes in vain too.
        arrival: steps until it is at the face; None when no way leads there.
        patience: steps that it waits there for the others.
        count: agents that it waits for, itself among them; 0 when it does not wait.
        in_vain: whether steps in which the block does not move count too (EmCoop's push).
    """

    agent: int
    block: int
    face: Face | None
    steps: int
    arrival: int | None
    patience: int
    count: int
    in_vain: bool = False

    def cells(self, begin: int) -> int:
        """Return how far the block moves at most.

        Args:
            begin: steps until enough agents push it.
        """
        return max(1, self.steps - (begin - (self.arrival or 0))) if self.in_vain else self.steps


def place_of(key: Key) -> str:
    """Name a face in words."""
    return f"the {key[1]} face of block {key[0]}"


def jobs(board: Board, agent: int, plan: Plan) -> list[PushTask]:
    """Return the pushes of a plan, in order. Blocks that are not there any more make none."""
    return _read(_Reader(board, agent, {}), plan)


def groups(board: Board, plans: Mapping[int, Plan]) -> dict[Key, list[PushTask]]:
    """Return who pushes together, by block and face; pushes from nowhere are left out.

    Who stands at a face, and is to go to another one first, makes room at it.
    """
    aims = {agent: aim for agent, plan in plans.items() if (aim := _aim(plan)) is not None}
    found: dict[Key, list[PushTask]] = {}
    for agent, plan in sorted(plans.items()):
        for job in _read(_Reader(board, agent, aims), plan):
            if job.face is not None:
                found.setdefault((job.block, job.face), []).append(job)
    return found


def aim_of(action: SymbolicAction) -> Key | None:
    """Return the face that an action goes to; None for one that goes to none."""
    match action:
        case MoveToBlock(block=block, face=face):
            return block, face
        case Navigate(entity=Entity.block, id=int(block)):
            return block, Face.left
        case _:
            return None


def moves(plan: Plan) -> bool:
    """Whether a plan lets its agent leave its cell."""
    return any(not isinstance(action, Idle | Wait | WaitAgents | Rendezvous) for action in plan.actions)


def _aim(plan: Plan) -> Key | None:
    """The face that a plan goes to first."""
    return next((aim for action in plan.actions if (aim := aim_of(action)) is not None), None)


def _read(reader: _Reader, plan: Plan) -> list[PushTask]:
    return [job for action in plan.actions if (job := reader.read(action)) is not None]


class _Reader:
    """Reads the actions of a plan in order, and keeps where they lead and how long they take.

    Args:
        board: as it is now.
        agent: whose plan it is.
        aims: the face that each agent goes to first, as far as it goes to one.
    """

    def __init__(self, board: Board, agent: int, aims: Mapping[int, Key]) -> None:
        self._board = board
        self._agent = agent
        self._aims = aims
        self._cell: Cell = board.agents[agent]
        self._time: int | None = 0
        self._at: Key | None = None
        self._count = 0
        self._patience: int | None = None

    def read(self, action: SymbolicAction) -> PushTask | None:
        """Take in an action; give the job when it is a push."""
        match action:
            case Idle(steps=steps) | Wait(steps=steps) | YieldBlock(steps=steps):
                self._spend(steps)
            case Move(direction=direction, steps=steps):
                self._walk(direction.action, steps)
            case MoveToBlock() | Navigate():
                self._go(action)
            case Rendezvous(block=block, face=face, count=count, timeout=timeout):
                self._at = block, face
                self._count, self._patience = count, self._or_default(timeout)
            case PushBlock(block=block) if block in self._board.blocks:
                patience = self._patience if self._patience is not None else self._or_default(action.timeout)
                return PushTask(self._agent, block, self._face(block), action.steps, self._time, patience, self._count)
            case PushTowards(block=block, steps=steps) if block in self._board.blocks:
                at = self._face(block)
                force = self._board.force(block, at) if at is not None else 0
                return PushTask(self._agent, block, at, steps, self._time, steps - 1, force, in_vain=True)
        return None

    def _face(self, block: int) -> Face | None:
        """The face at which the agent is by now."""
        if self._at is not None and self._at[0] == block:
            return self._at[1]
        return next(iter(self._board.faces_at(self._cell, block)), None)

    def _go(self, action: MoveToBlock | Navigate) -> None:
        """Walk to a face; or to a place that is none, as the crow flies."""
        aim = aim_of(action)
        if aim is None:
            assert isinstance(action, Navigate)
            place = self._place(action)
            self._spend(abs(place[0] - self._cell[0]) + abs(place[1] - self._cell[1]))
            self._cell, self._at = place, None
        elif aim[0] in self._board.blocks:
            # Where all places are taken it waits for the block to move on, behind those who push it.
            ways = self._board.ways(*aim, self._standing(*aim)) or self._board.ways(*aim)
            way = 0 if self._board.is_aligned(self._cell, *aim) else ways.get(self._cell)
            self._time = None if way is None or self._time is None else self._time + way
            self._at, self._count, self._patience = aim, 0, None

    def _place(self, action: Navigate) -> Cell:
        match action:
            case Navigate(entity=Entity.cell, cell=(row, col)):
                return row, col
            case Navigate(entity=Entity.agent, id=int(agent)) if agent < len(self._board.agents):
                return self._board.agents[agent]
            case _:
                return self._cell[0], self._board.side - 1

    def _standing(self, block: int, face: Face) -> list[Cell]:
        """Cells of the agents that are at a face already, and do not leave for another one."""
        return [
            cell
            for agent, cell in enumerate(self._board.agents)
            if cell != self._cell
            and self._aims.get(agent, (block, face)) == (block, face)
            and self._board.is_aligned(cell, block, face)
        ]

    def _walk(self, direction: int, steps: int) -> None:
        row_step, col_step = {1: (-1, 0), 2: (1, 0), 3: (0, -1), 4: (0, 1)}[int(direction)]
        for _ in range(steps):
            ahead = self._cell[0] + row_step, self._cell[1] + col_step
            if self._board.is_free(ahead):
                self._cell = ahead
        self._spend(steps)

    def _spend(self, steps: int) -> None:
        if self._time is not None:
            self._time += steps

    def _or_default(self, timeout: int | None) -> int:
        return timeout if timeout is not None else SIDES * self._board.side

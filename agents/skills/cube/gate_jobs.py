"""What a symbolic plan of CUBE comes to: which block its agent pushes from where, and when it is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cube_env import Cell, Face, Idle, Move, MoveToBlock, PushBlock, Rendezvous, YieldBlock
from maeil.actions import SymbolicAction
from maeil.plans import Plan
from quorum.agents.skills.cube.gate_board import Board

Key = tuple[int, Face]
"""What is done together: a block, and the face from which it is pushed."""

PATIENCE = 6
"""Sides of the grid: steps after which an action that names no timeout gives up."""


@dataclass(frozen=True, slots=True)
class PushTask:
    """A push that an agent takes part in.

    Attributes:
        agent: its index.
        block: what is pushed.
        face: from where; None when the plan pushes from where the agent stands, and that is at no face.
        steps: cells to push.
        arrival: steps until it is at the face; None when no way leads there.
        patience: steps that it waits there for the others.
        count: agents that it waits for, itself among them; 0 when it does not wait.
    """

    agent: int
    block: int
    face: Face | None
    steps: int
    arrival: int | None
    patience: int
    count: int


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


def moves(plan: Plan) -> bool:
    """Whether a plan lets its agent leave its cell."""
    return any(isinstance(action, Move | MoveToBlock | PushBlock | YieldBlock) for action in plan.actions)


def _aim(plan: Plan) -> Key | None:
    """The face that a plan goes to first."""
    return next(((action.block, action.face) for action in plan.actions if isinstance(action, MoveToBlock)), None)


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
            case Idle(steps=steps) | YieldBlock(steps=steps):
                self._spend(steps)
            case Move(direction=direction, steps=steps):
                self._walk(direction.action, steps)
            case MoveToBlock(block=block, face=face) if block in self._board.blocks:
                # Where all places are taken it waits for the block to move on, behind those who push it.
                ways = self._board.ways(block, face, self._standing(block, face)) or self._board.ways(block, face)
                aligned = self._board.is_aligned(self._cell, block, face)
                way = 0 if aligned else ways.get(self._cell)
                self._time = None if way is None or self._time is None else self._time + way
                self._at, self._count, self._patience = (block, face), 0, None
            case Rendezvous(block=block, face=face, count=count, timeout=timeout):
                self._at = block, face
                self._count, self._patience = count, self._or_default(timeout)
            case PushBlock(block=block) if block in self._board.blocks:
                return self._push(action)
        return None

    def _push(self, action: PushBlock) -> PushTask:
        face: Face | None
        if self._at is not None and self._at[0] == action.block:
            face = self._at[1]
        else:
            face = next(iter(self._board.faces_at(self._cell, action.block)), None)
        patience = self._patience if self._patience is not None else self._or_default(action.timeout)
        return PushTask(self._agent, action.block, face, action.steps, self._time, patience, self._count)

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
        return timeout if timeout is not None else PATIENCE * self._board.side

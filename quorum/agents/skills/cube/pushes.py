"""The pushes of plans in CUBE: ways to a face, lines behind it, swept cells, and arrival times."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
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
    SymbolicBlock,
    SymbolicObservation,
    Wait,
    WaitAgents,
    YieldBlock,
)
from maeil.actions import SymbolicAction
from maeil.mind import Observation
from maeil.plans import Plan
from quorum.agents.skills.cube.plans import SIDES, STEP, manhattan

PUSHED: Mapping[Face, Cell] = {Face.left: (0, 1), Face.right: (0, -1), Face.up: (1, 0), Face.down: (-1, 0)}
"""Change of row and column of a block pushed from a face."""

Square = tuple[int, int, int]
"""Row and column of the top-left cell of a block, and its weight."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """The effect of a push.

    Attributes:
        squares: final positions of moved blocks that are not delivered, by id.
        entered: cells that blocks move into.
        obstacle: what stops it early; empty if nothing does.
        others: the blocks that stop it.
    """

    squares: Mapping[int, Square]
    entered: frozenset[Cell]
    obstacle: str = ""
    others: tuple[int, ...] = ()


class Board:
    """A board, as shown by an observation.

    Args:
        observation: an observation of any agent; all see the same board.
    """

    def __init__(self, observation: Observation) -> None:
        assert isinstance(observation, SymbolicObservation)
        self.seen = observation
        self.side = observation.side
        self.agents = observation.agents
        self.blocks: dict[int, SymbolicBlock] = {block.id: block for block in observation.blocks}
        self._squares: dict[int, Square] = {b.id: (b.row, b.col, b.weight) for b in observation.blocks}
        self._covered = {cell for square in self._squares.values() for cell in _cells(square)}
        self._taken = set(observation.agents)
        self._lanes: dict[tuple[int, Face], list[list[Cell]]] = {}
        self._ways: dict[tuple[int, Face, frozenset[Cell]], dict[Cell, int]] = {}

    def is_free(self, cell: Cell) -> bool:
        """Return whether a cell is on the grid and in no block."""
        return 0 <= cell[0] < self.side and 0 <= cell[1] < self.side and cell not in self._covered

    def lanes(self, block: int, face: Face) -> list[list[Cell]]:
        """Return the cells from which a block can be pushed, by line: a face cell and the cells straight behind it."""
        if (block, face) not in self._lanes:
            self._lanes[block, face] = self._find_lanes(block, face)
        return self._lanes[block, face]

    def face(self, block: int, face: Face) -> list[Cell]:
        """Return the cells of a face, occupied or not."""
        return _strip(self._squares[block], (-PUSHED[face][0], -PUSHED[face][1]))

    def _find_lanes(self, block: int, face: Face) -> list[list[Cell]]:
        row_step, col_step = PUSHED[face]
        found = []
        for row, col in self.face(block, face):
            lane, cell = [], (row, col)
            while self.is_free(cell):
                lane.append(cell)
                cell = cell[0] - row_step, cell[1] - col_step
            if lane:
                found.append(lane)
        return found

    def is_aligned(self, cell: Cell, block: int, face: Face) -> bool:
        """Return whether an agent in a cell is on a face cell, or in a gap-free line of agents behind one."""
        for lane in self.lanes(block, face):
            if cell in lane:
                return all(before in self._taken for before in lane[: lane.index(cell)])
        return False

    def faces_at(self, cell: Cell, block: int) -> list[Face]:
        """Return the faces of a block that an agent in a cell is aligned with."""
        return [face for face in Face if self.is_aligned(cell, block, face)]

    def ways(self, block: int, face: Face, standing: Collection[Cell] = ()) -> dict[Cell, int]:
        """Return the steps from every cell to the nearest place at a face, behind the agents standing there.

        Args:
            block: id of the block.
            face: face of the block.
            standing: cells of agents that do not move away.
        """
        key = block, face, frozenset(standing)
        if key not in self._ways:
            self._ways[key] = self._find_ways(block, face, key[-1])
        return self._ways[key]

    def _find_ways(self, block: int, face: Face, standing: frozenset[Cell]) -> dict[Cell, int]:
        places = (next((cell for cell in lane if cell not in standing), None) for lane in self.lanes(block, face))
        steps = {cell: 0 for cell in places if cell is not None}
        edge = deque(steps)
        while edge:
            row, col = edge.popleft()
            for cell in ((row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)):
                if cell not in steps and self.is_free(cell):
                    steps[cell] = steps[row, col] + 1
                    if cell not in standing:
                        edge.append(cell)
        return steps

    def chain(self, block: int, face: Face, squares: Mapping[int, Square] | None = None) -> list[int]:
        """Return a block and all blocks that a push from a face moves with it."""
        squares = self._squares if squares is None else squares
        found = [block]
        for member in found:
            front = set(_strip(squares[member], PUSHED[face]))
            rest = (other for other in squares if other not in found)
            found.extend(other for other in rest if not front.isdisjoint(_cells(squares[other])))
        return found

    def force(self, block: int, face: Face) -> int:
        """Return the number of agents needed to move a block from a face: the weight of its chain."""
        return sum(self.blocks[member].weight for member in self.chain(block, face))

    def sweep(self, block: int, face: Face, steps: int, force: int, moving: Iterable[int] = ()) -> Sweep:
        """Simulate a push, cell by cell.

        Args:
            block: id of the block.
            face: face from which it is pushed.
            steps: cells to push it.
            force: number of pushing agents.
            moving: other blocks pushed at the same time, which are gone when this one arrives.
        """
        gone = set(moving)
        squares = {other: square for other, square in self._squares.items() if other not in gone}
        moved: set[int] = set()
        entered: set[Cell] = set()
        obstacle, others = "", tuple[int, ...]()
        for _ in range(steps):
            members = self.chain(block, face, squares)
            needed = sum(squares[member][2] for member in members)
            front = {cell for member in members for cell in _strip(squares[member], PUSHED[face])}
            if needed > force:
                obstacle = f"with what is in front it takes {needed} agents"
            elif not all(0 <= row < self.side and 0 <= col < self.side for row, col in front):
                obstacle = "a wall is in front"
            if obstacle:
                others = tuple(members[1:])
                break
            entered |= front
            moved.update(members)
            for member in members:
                row, col, weight = squares[member]
                squares[member] = row + PUSHED[face][0], col + PUSHED[face][1], weight
                if squares[member][1] + weight == self.side:
                    del squares[member]
            if block not in squares:
                break
        left = {member: squares[member] for member in sorted(moved) if member in squares}
        return Sweep(left, frozenset(entered), obstacle, others)


def overlap(one: Square, other: Square) -> bool:
    """Return whether two squares share a cell."""
    return not set(_cells(one)).isdisjoint(_cells(other))


def _cells(square: Square) -> list[Cell]:
    row, col, weight = square
    return [(r, c) for r in range(row, row + weight) for c in range(col, col + weight)]


def _strip(square: Square, step: Cell) -> list[Cell]:
    """Return the cells just outside a square, on the side of a step."""
    row, col, weight = square
    if step[0]:
        line = row - 1 if step[0] < 0 else row + weight
        return [(line, c) for c in range(col, col + weight)]
    line = col - 1 if step[1] < 0 else col + weight
    return [(r, line) for r in range(row, row + weight)]


Key = tuple[int, Face]
"""Identifies a joint push: a block, and the face from which it is pushed."""


@dataclass(frozen=True, slots=True)
class PushTask:
    """An agent's part in a push.

    Attributes:
        agent: its index.
        block: the pushed block.
        face: the face; None if the plan pushes from where the agent stands and that is at no face.
        steps: cells to push; or steps to push for, if unsuccessful ones count too.
        arrival: steps until it is at the face; None if no way leads there.
        patience: steps that it waits there for the others.
        count: number of agents that it waits for, including itself; 0 if it does not wait.
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
        """Return the maximum distance that the block moves, in cells.

        Args:
            begin: steps until enough agents push it.
        """
        return max(1, self.steps - (begin - (self.arrival or 0))) if self.in_vain else self.steps


def place_of(key: Key) -> str:
    """Describe a face in words."""
    return f"the {key[1]} face of block_{key[0]}"


def jobs(board: Board, agent: int, plan: Plan) -> list[PushTask]:
    """Return the pushes of a plan, in order, without those of blocks that are gone."""
    return _read(_Reader(board, agent, {}, board.agents[agent]), plan)


def groups(board: Board, plans: Mapping[int, Plan]) -> dict[Key, list[PushTask]]:
    """Return the agents that push together, by block and face, without pushes from no face.

    Agents that stand at a face but first go to another one make room at it.
    """
    aims = {agent: aim for agent, plan in plans.items() if (aim := _aim(plan)) is not None}
    found: dict[Key, list[PushTask]] = {}
    for agent, plan in sorted(plans.items()):
        for job in _read(_Reader(board, agent, aims, board.agents[agent]), plan):
            if job.face is not None:
                found.setdefault((job.block, job.face), []).append(job)
    return found


def aim_of(action: SymbolicAction) -> Key | None:
    """Return the face that an action goes to; None if it goes to none."""
    match action:
        case MoveToBlock(block=block, face=face):
            return block, face
        case Navigate(entity=Entity.block, id=int(block)):
            return block, Face.left
        case _:
            return None


def moves(plan: Plan) -> bool:
    """Return whether a plan lets its agent leave its cell."""
    return any(not isinstance(action, Idle | Wait | WaitAgents | Rendezvous) for action in plan.actions)


def _aim(plan: Plan) -> Key | None:
    """Return the face that a plan goes to first."""
    return next((aim for action in plan.actions if (aim := aim_of(action)) is not None), None)


def _read(reader: _Reader, plan: Plan) -> list[PushTask]:
    return [job for action in plan.actions if (job := reader.read(action)) is not None]


@dataclass(slots=True)
class _Reader:
    """Reads the actions of a plan in order, and tracks where they lead and how long they take.

    Attributes:
        board: the current board.
        agent: the agent of the plan.
        aims: the face that each agent goes to first, for agents that go to one.
        cell: the agent's position after the actions read so far.
    """

    board: Board
    agent: int
    aims: Mapping[int, Key]
    cell: Cell
    time: int | None = 0
    at: Key | None = None
    count: int = 0
    patience: int | None = None

    def read(self, action: SymbolicAction) -> PushTask | None:
        """Read an action; return its push, if it is one."""
        match action:
            case Idle(steps=steps) | Wait(steps=steps) | YieldBlock(steps=steps):
                self._spend(steps)
            case Move(direction=direction, steps=steps):
                self._walk(STEP[direction], steps)
            case MoveToBlock() | Navigate():
                self._go(action)
            case Rendezvous(block=block, face=face, count=count, timeout=timeout):
                self.at = block, face
                self.count, self.patience = count, self._or_default(timeout)
            case PushBlock(block=block) if block in self.board.blocks:
                patience = self.patience if self.patience is not None else self._or_default(action.timeout)
                return PushTask(self.agent, block, self._face(block), action.steps, self.time, patience, self.count)
            case PushTowards(block=block, steps=steps) if block in self.board.blocks:
                at = self._face(block)
                force = self.board.force(block, at) if at is not None else 0
                return PushTask(self.agent, block, at, steps, self.time, steps - 1, force, in_vain=True)
        return None

    def _face(self, block: int) -> Face | None:
        """Return the face at which the agent is after the actions read so far."""
        if self.at is not None and self.at[0] == block:
            return self.at[1]
        return next(iter(self.board.faces_at(self.cell, block)), None)

    def _go(self, action: MoveToBlock | Navigate) -> None:
        """Walk to a face, or in a straight line to any other place."""
        aim = aim_of(action)
        if aim is None:
            assert isinstance(action, Navigate)
            place = self._place(action)
            self._spend(manhattan(place, self.cell))
            self.cell, self.at = place, None
        elif aim[0] in self.board.blocks:
            # If all places are taken, it waits behind the pushing agents for the block to move on.
            ways = self.board.ways(*aim, self._standing(*aim)) or self.board.ways(*aim)
            way = 0 if self.board.is_aligned(self.cell, *aim) else ways.get(self.cell)
            self.time = None if way is None or self.time is None else self.time + way
            self.at, self.count, self.patience = aim, 0, None

    def _place(self, action: Navigate) -> Cell:
        match action:
            case Navigate(entity=Entity.cell, cell=(row, col)):
                return row, col
            case Navigate(entity=Entity.agent, id=int(agent)) if agent < len(self.board.agents):
                return self.board.agents[agent]
            case _:
                return self.cell[0], self.board.side - 1

    def _standing(self, block: int, face: Face) -> list[Cell]:
        """Return the cells of agents that are already at a face and do not leave for another one."""
        return [
            cell
            for agent, cell in enumerate(self.board.agents)
            if cell != self.cell
            and self.aims.get(agent, (block, face)) == (block, face)
            and self.board.is_aligned(cell, block, face)
        ]

    def _walk(self, step: Cell, steps: int) -> None:
        for _ in range(steps):
            ahead = self.cell[0] + step[0], self.cell[1] + step[1]
            if self.board.is_free(ahead):
                self.cell = ahead
        self._spend(steps)

    def _spend(self, steps: int) -> None:
        if self.time is not None:
            self.time += steps

    def _or_default(self, timeout: int | None) -> int:
        return timeout if timeout is not None else SIDES * self.board.side

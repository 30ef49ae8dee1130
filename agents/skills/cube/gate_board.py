"""What the gates of CUBE compute on a board: ways to a face, lines behind it, and what a push sweeps."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from cube_env import Cell, Face, SymbolicBlock, SymbolicObservation

PUSHED: Mapping[Face, Cell] = {Face.left: (0, 1), Face.right: (0, -1), Face.up: (1, 0), Face.down: (-1, 0)}
"""Rows and columns that a block moves by when it is pushed from a face."""

Square = tuple[int, int, int]
"""Row and column of the top-left cell of a block, and its weight."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """What a push does.

    Attributes:
        squares: where the blocks that moved and are not delivered end up, by id.
        entered: cells that blocks move into.
        obstacle: what stops it before it is through; empty when nothing does.
        others: the blocks that stop it.
    """

    squares: Mapping[int, Square]
    entered: frozenset[Cell]
    obstacle: str = ""
    others: tuple[int, ...] = ()


class Board:
    """A board as an observation shows it.

    Args:
        observation: of anybody; all see the same board.
    """

    def __init__(self, observation: SymbolicObservation) -> None:
        self.side = observation.side
        self.agents = observation.agents
        self.blocks: dict[int, SymbolicBlock] = {block.id: block for block in observation.blocks}
        self._squares: dict[int, Square] = {b.id: (b.row, b.col, b.weight) for b in observation.blocks}
        self._covered = {cell for square in self._squares.values() for cell in _cells(square)}
        self._taken = set(observation.agents)
        self._lanes: dict[tuple[int, Face], list[list[Cell]]] = {}
        self._ways: dict[tuple[int, Face, frozenset[Cell]], dict[Cell, int]] = {}

    def is_free(self, cell: Cell) -> bool:
        """Whether a cell is on the grid, and in no block."""
        return 0 <= cell[0] < self.side and 0 <= cell[1] < self.side and cell not in self._covered

    def lanes(self, block: int, face: Face) -> list[list[Cell]]:
        """The cells from which a block can be pushed, line by line: a face cell and those straight behind it."""
        if (block, face) not in self._lanes:
            self._lanes[block, face] = self._find_lanes(block, face)
        return self._lanes[block, face]

    def _find_lanes(self, block: int, face: Face) -> list[list[Cell]]:
        row_step, col_step = PUSHED[face]
        found = []
        for row, col in _strip(self._squares[block], (-row_step, -col_step)):
            lane, cell = [], (row, col)
            while self.is_free(cell):
                lane.append(cell)
                cell = cell[0] - row_step, cell[1] - col_step
            if lane:
                found.append(lane)
        return found

    def is_aligned(self, cell: Cell, block: int, face: Face) -> bool:
        """Whether an agent in a cell is on a face cell, or in a gap-free line of agents behind one."""
        for lane in self.lanes(block, face):
            if cell in lane:
                return all(before in self._taken for before in lane[: lane.index(cell)])
        return False

    def faces_at(self, cell: Cell, block: int) -> list[Face]:
        """The faces of a block that an agent in a cell is aligned with."""
        return [face for face in Face if self.is_aligned(cell, block, face)]

    def ways(self, block: int, face: Face, standing: Collection[Cell] = ()) -> dict[Cell, int]:
        """Steps from every cell to the nearest place at a face: behind those who stand there.

        Args:
            block: id.
            face: of the block.
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
        """A block and all that a push from a face moves along with it."""
        squares = self._squares if squares is None else squares
        found = [block]
        for member in found:
            front = set(_strip(squares[member], PUSHED[face]))
            rest = (other for other in squares if other not in found)
            found.extend(other for other in rest if not front.isdisjoint(_cells(squares[other])))
        return found

    def force(self, block: int, face: Face) -> int:
        """Agents that it takes to move a block from a face: the weight of its chain."""
        return sum(self.blocks[member].weight for member in self.chain(block, face))

    def sweep(self, block: int, face: Face, steps: int, force: int, moving: Iterable[int] = ()) -> Sweep:
        """Push a block, cell by cell.

        Args:
            block: id.
            face: from which it is pushed.
            steps: cells to push it.
            force: agents that push.
            moving: other blocks that are pushed at the same time, and are not there any more when this one comes.
        """
        gone = set(moving)
        squares = {other: square for other, square in self._squares.items() if other not in gone}
        moved: set[int] = set()
        entered: set[Cell] = set()
        for _ in range(steps):
            members = self.chain(block, face, squares)
            needed = sum(squares[member][2] for member in members)
            front = {cell for member in members for cell in _strip(squares[member], PUSHED[face])}
            obstacle, others = "", tuple(members[1:])
            if needed > force:
                obstacle = f"with what is in front it takes {needed} agents"
            elif not all(0 <= row < self.side and 0 <= col < self.side for row, col in front):
                obstacle = "a wall is in front"
            if obstacle:
                return Sweep({m: squares[m] for m in moved if m in squares}, frozenset(entered), obstacle, others)
            entered |= front
            moved.update(members)
            for member in members:
                row, col, weight = squares[member]
                squares[member] = row + PUSHED[face][0], col + PUSHED[face][1], weight
                if squares[member][1] + weight == self.side:
                    del squares[member]
            if block not in squares:
                break
        return Sweep({member: squares[member] for member in sorted(moved) if member in squares}, frozenset(entered))


def overlap(one: Square, other: Square) -> bool:
    """Whether two squares share a cell."""
    return not set(_cells(one)).isdisjoint(_cells(other))


def _cells(square: Square) -> list[Cell]:
    row, col, weight = square
    return [(r, c) for r in range(row, row + weight) for c in range(col, col + weight)]


def _strip(square: Square, step: Cell) -> list[Cell]:
    """The cells just outside a square on the side where a step leads."""
    row, col, weight = square
    if step[0]:
        line = row - 1 if step[0] < 0 else row + weight
        return [(line, c) for c in range(col, col + weight)]
    line = col - 1 if step[1] < 0 else col + weight
    return [(r, line) for r in range(row, row + weight)]

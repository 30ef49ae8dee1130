"""What an agent sees: the typed symbolic observation, its text, and the infos of a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cube_env.arrays import COUNT_DELIVERED_WEIGHT, COUNT_LIVE, COUNT_STEP, IntArray
from cube_env.constants import Cell, Face
from cube_env.state import BlockView, CubeState
from maeil.environments.arguments import agent_name
from maeil.environments.errors import WorldError

RUNNING = "running"
"""Status in the history of an action that has not ended."""

NOT_SHOWN: Cell = (-1, -1)
"""The cell of an agent that a prompt has left out, in an observation that was read from it."""


@dataclass(frozen=True, slots=True)
class FaceCells:
    """The staging cells of one face: just outside it, inside the grid and not in another block."""

    free: tuple[Cell, ...]
    """Those that are empty, from top to bottom or left to right."""
    taken: tuple[Cell, ...]
    """Those where an agent stands, in the same order."""


@dataclass(frozen=True, slots=True)
class Faces:
    """The staging cells of the four faces of a block; `faces[Face.left]` is `faces.left`."""

    left: FaceCells
    right: FaceCells
    up: FaceCells
    down: FaceCells

    def __getitem__(self, face: Face | str) -> FaceCells:
        cells: FaceCells = getattr(self, Face(face).value)
        return cells


@dataclass(frozen=True, slots=True)
class SymbolicBlock:
    """A block that is there, as every agent sees it."""

    id: int
    weight: int
    row: int
    """Row of the top-left cell."""
    col: int
    """Column of the top-left cell."""
    distance: int
    """Cells that it must move right to touch the goal column: `side - 1 - (col + weight - 1)`."""
    ahead: tuple[int, ...]
    """Ids of the blocks between it and the goal that share a row with it, nearest first."""
    faces: Faces


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A symbolic action that the agent has finished or is in."""

    action: str
    args: Mapping[str, object]
    primitives: tuple[int, ...]
    """The primitive actions that it came to, in order."""
    status: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SymbolicObservation:
    """What one agent sees of the world; the same for all but `agent`, `cell` and `history`."""

    side: int
    goal_col: int
    step: int
    max_steps: int
    agent: str
    """Name of the observing agent; empty for one who sees the board from outside."""
    cell: Cell | None
    """Where it stands; None for one who sees the board from outside."""
    agents: tuple[Cell, ...]
    """Cell of each agent, by index; `NOT_SHOWN` in what was read from a prompt that leaves some out."""
    blocks: tuple[SymbolicBlock, ...]
    """The blocks not yet delivered, by ascending id."""
    history: tuple[HistoryEntry, ...] = ()
    """Its recent symbolic actions, oldest first."""

    def text(self) -> str:
        """The observation as readable lines; cells in a row are joined, `(3..5, 1)` is rows 3 to 5 of column 1."""
        others = ", ".join(f"agent_{i} ({row}, {col})" for i, (row, col) in enumerate(self.agents))
        lines = [
            f"Step {self.step} of {self.max_steps}. Grid {self.side} x {self.side}, positions are (row, col). "
            f"Blocks are delivered in column {self.goal_col}.",
            f"You are {self.agent} at ({self.cell[0]}, {self.cell[1]})." if self.cell else "You have no body.",
            f"Agents: {others}.",
            "Blocks:" if self.blocks else "Blocks: none left.",
        ]
        for block in self.blocks:
            lines.append(_block_line(block))
            for face in Face:
                cells = block.faces[face]
                lines.append(f"  {face} face: free {_runs(cells.free)}; taken {_runs(cells.taken)}")
        if self.history:
            lines.append("Your recent actions:")
            lines.extend(_history_line(entry) for entry in self.history)
        return "\n".join(lines)


def symbolic_blocks(views: Sequence[BlockView], grid: IntArray) -> tuple[SymbolicBlock, ...]:
    """The blocks' part of every agent's symbolic observation.

    Args:
        views: the blocks that are there.
        grid: (K, K) grid codes of `cube_env.arrays`.
    """
    rectangles = np.array([(b.id, b.row, b.col, b.weight) for b in views], dtype=np.int32).reshape(-1, 4)
    return tuple(
        SymbolicBlock(
            view.id,
            view.weight,
            view.row,
            view.col,
            len(grid) - view.col - view.weight,
            _ahead(view, rectangles),
            _faces(grid, view),
        )
        for view in views
    )


def _ahead(block: BlockView, rectangles: IntArray) -> tuple[int, ...]:
    identity, row, col, weight = rectangles.T
    in_rows = (row < block.row + block.weight) & (row + weight > block.row) & (col >= block.col + block.weight)
    found = np.flatnonzero(in_rows)
    nearest_first: list[int] = identity[found[np.argsort(col[found], kind="stable")]].tolist()
    return tuple(nearest_first)


def _faces(grid: IntArray, block: BlockView) -> Faces:
    side = len(grid)
    bottom, right = block.row + block.weight, block.col + block.weight
    rows, cols = range(block.row, bottom), range(block.col, right)

    def vertical(col: int) -> FaceCells:
        if not 0 <= col < side:
            return FaceCells((), ())
        return _split([(row, col) for row in rows], grid[block.row : bottom, col])

    def horizontal(row: int) -> FaceCells:
        if not 0 <= row < side:
            return FaceCells((), ())
        return _split([(row, col) for col in cols], grid[row, block.col : right])

    return Faces(vertical(block.col - 1), vertical(right), horizontal(block.row - 1), horizontal(bottom))


def _split(cells: list[Cell], occupancy: npt.NDArray[np.int32]) -> FaceCells:
    entities = occupancy.tolist()
    return FaceCells(
        tuple(cell for cell, entity in zip(cells, entities, strict=True) if entity == 0),
        tuple(cell for cell, entity in zip(cells, entities, strict=True) if entity > 0),
    )


def _block_line(block: SymbolicBlock) -> str:
    ahead = ", ".join(f"block {b}" for b in block.ahead) or "none"
    last_row, last_col = block.row + block.weight - 1, block.col + block.weight - 1
    return (
        f"- block {block.id}: weight {block.weight}, top-left ({block.row}, {block.col}), rows {block.row} to "
        f"{last_row}, columns {block.col} to {last_col}; distance to goal {block.distance}; ahead in its rows: {ahead}"
    )


def _history_line(entry: HistoryEntry) -> str:
    arguments = ", ".join(f"{key}={value}" for key, value in entry.args.items())
    reason = f" ({entry.reason})" if entry.reason else ""
    return f"- {entry.action}({arguments}): {entry.status}{reason}, {len(entry.primitives)} steps"


def _runs(cells: Sequence[Cell]) -> str:
    """Cells of one line, given in order, with neighbours joined: `(3..5, 1), (7, 1)`."""
    if not cells:
        return "none"
    runs: list[tuple[Cell, Cell]] = []
    if sum(cells[-1]) - sum(cells[0]) == len(cells) - 1:
        runs, cells = [(cells[0], cells[-1])], ()
    for cell in cells:
        if runs and cell[0] - runs[-1][1][0] + cell[1] - runs[-1][1][1] == 1:
            runs[-1] = runs[-1][0], cell
        else:
            runs.append((cell, cell))
    return ", ".join(f"({_span(a[0], b[0])}, {_span(a[1], b[1])})" for a, b in runs)


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}..{last}"


COUNTS = {"step": COUNT_STEP, "blocks_left": COUNT_LIVE, "delivered_weight": COUNT_DELIVERED_WEIGHT}
"""The plain infos that are counters of the world, each with its column."""


class Frame:
    """The state between two steps, from which the symbolic observations of all agents are built.

    What the agents share is computed once.
    """

    __slots__ = ("_agents", "_blocks", "max_steps", "state")

    def __init__(self, state: CubeState, max_steps: int) -> None:
        self.state = state
        self.max_steps = max_steps
        self._agents: tuple[Cell, ...] = ()
        self._blocks: tuple[SymbolicBlock, ...] = ()

    def symbolic(self, index: int | None, history: tuple[HistoryEntry, ...] = ()) -> SymbolicObservation:
        """The symbolic observation of the agent with this index, or from outside when it is None."""
        name = agent_name(index) if index is not None else ""
        if not self._agents:
            self._agents = self.state.agent_cells()
            self._blocks = symbolic_blocks(self.state.block_views(), self.state.grid)
        if index is not None and not 0 <= index < len(self._agents):
            raise WorldError(f"no agent has index {index}: they are 0 to {len(self._agents) - 1}")
        side = self.state.side
        return SymbolicObservation(
            side,
            side - 1,
            self.state.step,
            self.max_steps,
            name,
            self._agents[index] if index is not None else None,
            self._agents,
            self._blocks,
            history,
        )

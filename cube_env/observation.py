"""The typed symbolic observation of an agent, and the infos of a step."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from cube_env.arrays import COUNT_DELIVERED_WEIGHT, COUNT_LIVE, COUNT_STEP, IntArray
from cube_env.concepts import cells_of_face, strip
from cube_env.constants import Cell, Face
from cube_env.state import BlockView, CubeState

RUNNING = "running"
"""History status of a running action."""
HISTORY_LENGTH = 5
"""Number of ended symbolic actions that an observation shows."""

NOT_SHOWN: Cell = (-1, -1)
"""Cell of an agent missing from the prompt, in an observation read from that prompt."""


@dataclass(frozen=True, slots=True)
class FaceCells:
    """The staging cells of one face: just outside it, inside the grid and not in another block."""

    free: tuple[Cell, ...]
    """Empty staging cells, from top to bottom or left to right."""
    taken: tuple[Cell, ...]
    """Staging cells occupied by an agent, in the same order."""


@dataclass(frozen=True, slots=True)
class Faces:
    """The staging cells of the four faces of a block, in the order of `Face`; `faces[Face.left]` is `faces.left`."""

    left: FaceCells
    right: FaceCells
    up: FaceCells
    down: FaceCells

    def __getitem__(self, face: Face | str) -> FaceCells:
        cells: FaceCells = getattr(self, Face(face).value)
        return cells


@dataclass(frozen=True, slots=True)
class SymbolicBlock:
    """A block on the board, as every agent sees it."""

    id: int
    weight: int
    row: int
    """Row of the top-left cell."""
    col: int
    """Column of the top-left cell."""
    distance: int
    """Cells it must move right to touch the goal column: `side - 1 - (col + weight - 1)`."""
    ahead: tuple[int, ...]
    """Ids of the blocks between it and the goal that share a row with it, nearest first."""
    faces: Faces


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A finished or running symbolic action of the agent."""

    action: str
    args: Mapping[str, object]
    primitives: tuple[int, ...]
    """The primitive actions of this symbolic action, in order."""
    status: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SymbolicObservation:
    """One agent's view of the world; only `agent`, `cell` and `history` differ between agents."""

    side: int
    goal_col: int
    step: int
    max_steps: int
    agent: str
    """Name of the observing agent; empty for an outside observer."""
    cell: Cell | None
    """Cell of the observing agent; None for an outside observer."""
    agents: tuple[Cell, ...]
    """Cell of each agent, by index; `NOT_SHOWN` for agents left out of the prompt that was read."""
    blocks: tuple[SymbolicBlock, ...]
    """The blocks not yet delivered, by ascending id."""
    history: tuple[HistoryEntry, ...] = ()
    """The agent's recent symbolic actions, oldest first."""

    def text(self) -> str:
        """The whole observation as JSON."""
        return json.dumps(asdict(self))


def symbolic_blocks(views: Sequence[BlockView], grid: IntArray) -> tuple[SymbolicBlock, ...]:
    """Build the block part of every agent's symbolic observation.

    Args:
        views: the blocks on the board.
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
            Faces(*(_face_cells(grid, view, face) for face in Face)),
        )
        for view in views
    )


def _ahead(block: BlockView, rectangles: IntArray) -> tuple[int, ...]:
    identity, row, col, weight = rectangles.T
    in_rows = (row < block.row + block.weight) & (row + weight > block.row) & (col >= block.col + block.weight)
    found = np.flatnonzero(in_rows)
    nearest_first: list[int] = identity[found[np.argsort(col[found], kind="stable")]].tolist()
    return tuple(nearest_first)


def _face_cells(grid: IntArray, block: BlockView, face: Face) -> FaceCells:
    top, left, bottom, right = strip(block, face)
    if top < 0 or left < 0 or bottom >= len(grid) or right >= len(grid):
        return FaceCells((), ())
    entities = grid[top : bottom + 1, left : right + 1].ravel().tolist()
    found = list(zip(cells_of_face(block, face), entities, strict=True))
    return FaceCells(
        tuple(cell for cell, entity in found if entity == 0), tuple(cell for cell, entity in found if entity > 0)
    )


COUNTS = {"step": COUNT_STEP, "blocks_left": COUNT_LIVE, "delivered_weight": COUNT_DELIVERED_WEIGHT}
"""The plain infos that are world counters, each with its column."""


def observe(state: CubeState, max_steps: int) -> SymbolicObservation:
    """Return the symbolic observation of an outside observer; those of the agents share its parts."""
    blocks = symbolic_blocks(state.block_views(), state.grid)
    return SymbolicObservation(state.side, state.side - 1, state.step, max_steps, "", None, state.agent_cells(), blocks)

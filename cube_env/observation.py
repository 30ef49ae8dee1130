"""The typed symbolic observation of an agent, and the infos of a step."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from cube_env.arrays import COUNT_DELIVERED_WEIGHT, COUNT_LIVE, COUNT_STEP, IntArray
from cube_env.constants import Cell, Face
from cube_env.state import BlockView, CubeState
from quorum_base.environments.arguments import agent_name
from quorum_base.environments.errors import WorldError

RUNNING = "running"
"""History status of a running action."""

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


COUNTS = {"step": COUNT_STEP, "blocks_left": COUNT_LIVE, "delivered_weight": COUNT_DELIVERED_WEIGHT}
"""The plain infos that are world counters, each with its column."""


class Frame:
    """The state between two steps, the source of all agents' symbolic observations.

    Parts that agents share are computed once.
    """

    __slots__ = ("_agents", "_blocks", "max_steps", "state")

    def __init__(self, state: CubeState, max_steps: int) -> None:
        self.state = state
        self.max_steps = max_steps
        self._agents: tuple[Cell, ...] = ()
        self._blocks: tuple[SymbolicBlock, ...] = ()

    def symbolic(self, index: int | None, history: tuple[HistoryEntry, ...] = ()) -> SymbolicObservation:
        """Return the symbolic observation of the agent with this index; None for an outside observer."""
        name = agent_name(index) if index is not None else ""
        if not self._agents:
            self._agents = self.state.agent_cells()
            self._blocks = symbolic_blocks(self.state.block_views(), self.state.grid)
        if index is not None and not 0 <= index < len(self._agents):
            raise WorldError(f"no agent has index {index}; indices are 0 to {len(self._agents) - 1}")
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

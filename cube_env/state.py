"""The arrays of one world, and the immutable picture of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cube_env import arrays
from cube_env.arrays import ActionArray, ChannelArray, CounterArray, IntArray, World
from cube_env.channels import occupy, paint, repaint
from cube_env.constants import Cell
from cube_env.kernel import step_world
from cube_env.layout import Layout
from maeil.environments.errors import WorldError


@dataclass(frozen=True, slots=True)
class BlockView:
    """A block that is there."""

    id: int
    weight: int
    row: int
    """Row of the top-left cell."""
    col: int
    """Column of the top-left cell."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An immutable picture of a world."""

    step: int
    """Steps taken in this episode."""
    agents: tuple[Cell, ...]
    """Cell of each agent, by index."""
    blocks: tuple[BlockView, ...]
    """The blocks not yet delivered, by ascending id."""
    side: int
    """Cells along each edge of the grid; the goal is column `side - 1`."""


class CubeState:
    """The state of one world as arrays, which the kernels advance in place.

    Cheap to copy and to restore, so planners and plan checks roll copies forward: `copy()` leaves out the
    observation's channels unless asked for them, and a state without channels does not spend time on them.
    """

    __slots__ = ("world",)

    world: World
    """All arrays, the report of the last step among them; the report is undefined before the first step."""

    def __init__(
        self, agents: IntArray, blocks: IntArray, grid: IntArray, counters: CounterArray, *, observed: bool
    ) -> None:
        side = len(grid) if observed else 0
        self.world = World(
            agents,
            blocks,
            grid,
            np.empty((side, side, arrays.CHANNELS), dtype=np.float32),
            counters,
            attempts=np.empty((len(agents), arrays.ATTEMPT_COLUMNS), dtype=np.int32),
            agent_report=np.empty((len(agents), arrays.AGENT_COLUMNS), dtype=np.int32),
            block_report=np.empty((len(blocks), arrays.BLOCK_COLUMNS), dtype=np.int32),
        )
        if observed:
            paint(blocks, grid, self.world.channels)

    @classmethod
    def from_layout(cls, layout: Layout, *, observed: bool = False) -> CubeState:
        """The state at step 0 of a layout; `observed` keeps the observation's channels up to date."""
        agents = np.array(layout.agents, dtype=np.int32)
        blocks = np.array([(row, col, weight, 1) for weight, (row, col) in layout.blocks], dtype=np.int32)
        blocks = blocks.reshape(-1, 4)
        grid = np.empty((layout.side, layout.side), dtype=np.int32)
        occupy(agents, blocks, grid)
        counters = np.zeros(arrays.COUNTERS, dtype=np.int64)
        counters[arrays.COUNT_LIVE] = len(blocks)
        return cls(agents, blocks, grid, counters, observed=observed)

    @classmethod
    def of(cls, world: World) -> CubeState:
        """The state over arrays that somebody else keeps; nothing is copied."""
        state = cls.__new__(cls)
        state.world = world
        return state

    @property
    def side(self) -> int:
        """Cells along each edge of the grid."""
        return len(self.world.grid)

    @property
    def step(self) -> int:
        """Steps taken."""
        return int(self.world.counters[arrays.COUNT_STEP])

    @property
    def live(self) -> int:
        """Blocks not yet delivered."""
        return int(self.world.counters[arrays.COUNT_LIVE])

    @property
    def agents(self) -> IntArray:
        """Row and column of each agent, shape (n, 2), live."""
        return self.world.agents

    @property
    def grid(self) -> IntArray:
        """Occupancy, shape (K, K), live: 0 free, i + 1 agent i, -(b + 1) block b."""
        return self.world.grid

    @property
    def channels(self) -> ChannelArray:
        """The multi-channel observation, shape (K, K, 5), live; (0, 0, 5) in a state that does not keep it."""
        return self.world.channels

    @property
    def block_table(self) -> IntArray:
        """Each block's row, col, weight, and 1 while it is there, shape (B, 4), live."""
        return self.world.blocks

    @property
    def blocks(self) -> IntArray:
        """Row and column of each block's top-left cell, shape (B, 2), live; a delivered block keeps its last."""
        return self.world.blocks[:, : arrays.WEIGHT]

    @property
    def weights(self) -> IntArray:
        """Weight of each block, shape (B,)."""
        return self.world.blocks[:, arrays.WEIGHT]

    @property
    def alive(self) -> npt.NDArray[np.bool_]:
        """Whether each block is still there, shape (B,), a copy."""
        alive: npt.NDArray[np.bool_] = self.world.blocks[:, arrays.ALIVE] != 0
        return alive

    def advance(self, actions: ActionArray) -> int:
        """Advance by one joint action, in place; what happened is in the report arrays of `world`.

        Args:
            actions: Shape (n,), int64, values of `Action`.

        Returns:
            -1; or, with nothing changed, the first agent whose action is out of range.
        """
        return step_world(actions, *self.world)

    def copy(self, *, observed: bool = False) -> CubeState:
        """An independent copy of the state, without the report of the last step."""
        world = self.world
        return CubeState(
            world.agents.copy(), world.blocks.copy(), world.grid.copy(), world.counters.copy(), observed=observed
        )

    def restore(self, other: CubeState) -> None:
        """Become the state of `other`, in place; every array and view of it stays where it is.

        Raises:
            WorldError: `other` has another side, or another number of agents or blocks.
        """
        if not self.fits(other):
            raise WorldError(
                f"a state of side {other.side} with {len(other.agents)} agents and {len(other.blocks)} blocks "
                f"cannot be restored into one of side {self.side} with {len(self.agents)} agents and "
                f"{len(self.blocks)} blocks: use copy()"
            )
        mine, theirs = self.world, other.world
        if mine.channels.size:
            repaint(mine.blocks, mine.grid, theirs.blocks, theirs.grid, mine.channels)
        mine.agents[...] = theirs.agents
        mine.blocks[...] = theirs.blocks
        mine.grid[...] = theirs.grid
        mine.counters[...] = theirs.counters

    def become(self, other: CubeState) -> None:
        """Become the state of `other`, which may have more blocks: then arrays of blocks, and the channels, are new.

        The report of the last step stays; it knows nothing of blocks that are new.

        Raises:
            WorldError: `other` has another side or another number of agents.
        """
        mine, theirs = self.world, other.world
        if len(theirs.blocks) <= len(mine.blocks) or not self._is_as_large(other):
            self.restore(other)
            return
        report = np.zeros((len(theirs.blocks), arrays.BLOCK_COLUMNS), dtype=np.int32)
        report[: len(mine.blocks)] = mine.block_report
        self.world = theirs._replace(attempts=mine.attempts, agent_report=mine.agent_report, block_report=report)

    def fits(self, other: CubeState) -> bool:
        """Whether both have the same side and the same numbers of agents and blocks."""
        return self._is_as_large(other) and self.world.blocks.shape == other.world.blocks.shape

    def _is_as_large(self, other: CubeState) -> bool:
        mine, theirs = self.world, other.world
        return mine.grid.shape == theirs.grid.shape and mine.agents.shape == theirs.agents.shape

    def snapshot(self) -> Snapshot:
        """An immutable picture of the state."""
        return Snapshot(self.step, self.agent_cells(), self.block_views(), self.side)

    def agent_cells(self) -> tuple[Cell, ...]:
        """Cell of each agent, by index."""
        rows: list[list[int]] = self.agents.tolist()
        return tuple((row, col) for row, col in rows)

    def block_views(self) -> tuple[BlockView, ...]:
        """The blocks that are there, by ascending id."""
        return tuple(
            BlockView(b, weight, row, col)
            for b, (row, col, weight, alive) in enumerate(self.world.blocks.tolist())
            if alive
        )

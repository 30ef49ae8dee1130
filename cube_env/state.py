"""World state as arrays: batches, single worlds, and the report of a step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cube_env import arrays
from cube_env.arrays import ActionArray, ChannelArray, IntArray, World
from cube_env.constants import Action, Cell, MoveFailure, PushOutcome
from cube_env.kernel import step_world
from cube_env.layout import Layout, draw
from cube_env.views import occupy, paint
from quorum_base.environments.errors import WorldError


def allocate(num_envs: int, side: int, n: int, blocks: int, *, observe: bool) -> World:
    """Allocate the fields of `World`, each with a leading dimension; without `observe` channels are `(W, 0, 0, 5)`."""

    def integers(*shape: int) -> IntArray:
        return np.zeros((num_envs, *shape), dtype=np.int32)

    observed = side if observe else 0
    return World(
        agents=integers(n, 2),
        blocks=integers(blocks, 4),
        grid=integers(side, side),
        channels=np.zeros((num_envs, observed, observed, arrays.CHANNELS), dtype=np.float32),
        counters=np.zeros((num_envs, arrays.COUNTERS), dtype=np.int64),
        attempts=integers(n, arrays.ATTEMPT_COLUMNS),
        agent_report=integers(n, arrays.AGENT_COLUMNS),
        block_report=integers(blocks, arrays.BLOCK_COLUMNS),
    )


def each_world(worlds: World) -> Iterator[World]:
    """Yield the live arrays of each world."""
    return (world_of(worlds, number) for number in range(len(worlds.agents)))


def world_of(worlds: World, number: int) -> World:
    """Return the live arrays of one world."""
    return World._make(array[number] for array in worlds)


def lay_out(world: World, agents: npt.NDArray[np.int32], blocks: IntArray) -> None:
    """Start an episode in the arrays of one world.

    Args:
        world: The arrays; written.
        agents: The agents' cells, shape (n, 2).
        blocks: As in `World`.
    """
    world.agents[...] = agents
    world.blocks[...] = blocks
    occupy(world.agents, world.blocks, world.grid)
    if world.channels.size:
        paint(world.blocks, world.grid, world.channels)
    world.counters[...] = 0
    world.counters[arrays.COUNT_LIVE] = len(blocks)


def painted(worlds: World) -> npt.NDArray[np.float32]:
    """Return a copy of the channels of all worlds, even if none are kept; shape (W, K, K, 5)."""
    if worlds.channels.size:
        return worlds.channels.copy()
    channels = np.empty((*worlds.grid.shape, arrays.CHANNELS), dtype=np.float32)
    for number, world in enumerate(each_world(worlds)):
        paint(world.blocks, world.grid, channels[number])
    return channels


@dataclass(frozen=True, slots=True)
class BlockView:
    """A block on the board."""

    id: int
    weight: int
    row: int
    """Row of the top-left cell."""
    col: int
    """Column of the top-left cell."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An immutable snapshot of a world."""

    step: int
    """Steps taken in this episode."""
    agents: tuple[Cell, ...]
    """Cell of each agent, by index."""
    blocks: tuple[BlockView, ...]
    """The blocks not yet delivered, by ascending id."""
    side: int
    """Cells along each edge of the grid; the goal is column `side - 1`."""


def render_ansi(snapshot: Snapshot) -> str:
    """Draw the board in the characters of `Layout`; for larger boards see `cube_env.layout.draw`."""
    blocks = [(block.id, block.weight, (block.row, block.col)) for block in snapshot.blocks]
    return draw(snapshot.side, snapshot.agents, blocks)


class CubeState:
    """The state of one world as arrays, which the kernels advance in place.

    A state is cheap to copy and restore, so planners and plan checks roll copies forward. `copy()` leaves out the
    observation channels unless you ask for them; a state without channels spends no time on them.
    """

    __slots__ = ("world",)

    world: World
    """All arrays, including the report of the last step, which is undefined before the first step."""

    def __init__(self, world: World) -> None:
        self.world = world

    @classmethod
    def from_layout(cls, layout: Layout, *, observed: bool = False) -> CubeState:
        """Return the state of a layout at step 0; `observed` keeps the observation channels up to date."""
        blocks = [(row, col, weight, 1) for weight, (row, col) in layout.blocks]
        return cls.laid_out(layout.side, layout.agents, blocks, observed=observed)

    @classmethod
    def laid_out(
        cls, side: int, agents: Sequence[Cell], blocks: Sequence[Sequence[int]], *, observed: bool
    ) -> CubeState:
        """Return the state at step 0 from agent cells and rows of `World.blocks`."""
        world = world_of(allocate(1, side, len(agents), len(blocks), observe=observed), 0)
        lay_out(world, np.array(agents, dtype=np.int32), np.array(blocks, dtype=np.int32).reshape(-1, 4))
        return cls(world)

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
        """Row and column of each agent, shape (n, 2); a live view."""
        return self.world.agents

    @property
    def grid(self) -> IntArray:
        """Occupancy, shape (K, K); a live view: 0 free, i + 1 agent i, -(b + 1) block b."""
        return self.world.grid

    @property
    def channels(self) -> ChannelArray:
        """The multi-channel observation, shape (K, K, 5); a live view; (0, 0, 5) in a state that does not keep it."""
        return self.world.channels

    @property
    def block_table(self) -> IntArray:
        """Row, col, weight, and 1 while on the board, for each block, shape (B, 4); a live view."""
        return self.world.blocks

    @property
    def blocks(self) -> IntArray:
        """Row and column of each block's top-left cell, shape (B, 2); live; a delivered block keeps its last cell."""
        return self.world.blocks[:, : arrays.WEIGHT]

    @property
    def weights(self) -> IntArray:
        """Weight of each block, shape (B,)."""
        return self.world.blocks[:, arrays.WEIGHT]

    @property
    def alive(self) -> npt.NDArray[np.bool_]:
        """Whether each block is still on the board, shape (B,); a copy."""
        alive: npt.NDArray[np.bool_] = self.world.blocks[:, arrays.ALIVE] != 0
        return alive

    def advance(self, actions: ActionArray) -> int:
        """Advance by one joint action, in place; the report arrays of `world` hold the results.

        Args:
            actions: Shape (n,), int64, values of `Action`.

        Returns:
            -1; or, with nothing changed, the first agent with an action out of range.
        """
        return step_world(actions, *self.world)

    def copy(self, *, observed: bool = False) -> CubeState:
        """An independent copy of the state."""
        side = self.side if observed else 0
        unpainted = self.world._replace(channels=np.empty((side, side, arrays.CHANNELS), dtype=np.float32))
        world = World._make(array.copy() for array in unpainted)
        if observed:
            paint(world.blocks, world.grid, world.channels)
        return CubeState(world)

    def restore(self, other: CubeState) -> None:
        """Take over the state of `other`, in place; all arrays and views stay valid.

        Raises:
            WorldError: `other` has a different side or number of agents or blocks.
        """
        if not self.fits(other):
            raise WorldError(
                f"a state of side {other.side} with {len(other.agents)} agents and {len(other.blocks)} blocks "
                f"cannot be restored into one of side {self.side} with {len(self.agents)} agents and "
                f"{len(self.blocks)} blocks: use copy()"
            )
        here, there = self.world, other.world
        here.agents[...] = there.agents
        here.blocks[...] = there.blocks
        here.grid[...] = there.grid
        here.counters[...] = there.counters
        if here.channels.size:
            paint(here.blocks, here.grid, here.channels)

    def become(self, other: CubeState) -> None:
        """Take over the state of `other`; if it has more blocks, the block arrays and channels are replaced.

        The report of the last step stays, without entries for new blocks.

        Raises:
            WorldError: `other` has a different side or number of agents.
        """
        here, there = self.world, other.world
        if len(there.blocks) <= len(here.blocks) or not self._is_as_large(other):
            self.restore(other)
            return
        report = np.zeros((len(there.blocks), arrays.BLOCK_COLUMNS), dtype=np.int32)
        report[: len(here.blocks)] = here.block_report
        self.world = there._replace(attempts=here.attempts, agent_report=here.agent_report, block_report=report)

    def fits(self, other: CubeState) -> bool:
        """Whether both have the same side and the same numbers of agents and blocks."""
        return self._is_as_large(other) and self.world.blocks.shape == other.world.blocks.shape

    def _is_as_large(self, other: CubeState) -> bool:
        here, there = self.world, other.world
        return here.grid.shape == there.grid.shape and here.agents.shape == there.agents.shape

    def snapshot(self) -> Snapshot:
        """Return an immutable snapshot of the state."""
        return Snapshot(self.step, self.agent_cells(), self.block_views(), self.side)

    def agent_cells(self) -> tuple[Cell, ...]:
        """Cell of each agent, by index."""
        rows: list[list[int]] = self.agents.tolist()
        return tuple((row, col) for row, col in rows)

    def block_views(self) -> tuple[BlockView, ...]:
        """The blocks on the board, by ascending id."""
        return tuple(
            BlockView(b, weight, row, col)
            for b, (row, col, weight, alive) in enumerate(self.world.blocks.tolist())
            if alive
        )


_ACTIONS = tuple(Action)
_OUTCOMES = tuple(PushOutcome)
_FAILURES = tuple(MoveFailure)


@dataclass(frozen=True, slots=True)
class Push:
    """A push attempt on a block by at least one agent."""

    block: int
    """Id of the block at which the agents' lines end."""
    direction: Action
    agents: tuple[int, ...]
    """Indices of the agents in the lines, ascending."""
    force: int
    """Number of those agents."""
    required: int
    """Sum of the weights in the chain of blocks that would have to move."""
    outcome: PushOutcome


@dataclass(frozen=True, slots=True)
class FailedMove:
    """An agent that wanted to walk but stayed, and that no push moved."""

    agent: int
    """Index of the agent."""
    direction: Action
    reason: MoveFailure


class StepReport:
    """Result of one step; it stays valid after later steps.

    The tuples are built on first access, so an unread report costs nothing.
    """

    reward: float
    """Reward of every agent."""
    terminated: bool
    """No block is left."""
    truncated: bool
    """The step count has reached `max_steps`, and a block is left."""
    delivered: tuple[int, ...]
    """Ids of the blocks delivered in this step, ascending."""
    delivered_weight: int
    """Sum of their weights."""

    def __init__(
        self, state: CubeState, actions: ActionArray, *, step_cost: float, deliver_reward: float, max_steps: int
    ) -> None:
        step, live, weight, attempts, _ = state.world.counters.tolist()
        self.reward = deliver_reward * weight / len(actions) - step_cost
        self.terminated = live == 0
        self.truncated = live > 0 and step >= max_steps
        self.delivered_weight = weight
        self.delivered = ()
        if weight:
            statuses = state.world.block_report[:, arrays.BLOCK_STATUS].tolist()
            self.delivered = tuple(block for block, status in enumerate(statuses) if status == arrays.BLOCK_DELIVERED)
        # The next step overwrites the state's arrays.
        self._attempts = state.world.attempts[:attempts].copy()
        self._agent_report = state.world.agent_report.copy()
        self._actions = actions

    @cached_property
    def pushes(self) -> tuple[Push, ...]:
        """The push attempts, in the order in which they were resolved."""
        agents: list[list[int]] = [[] for _ in self._attempts]
        for i, attempt in enumerate(self._agent_report[:, arrays.AGENT_ATTEMPT].tolist()):
            if attempt >= 0:
                agents[attempt].append(i)
        return tuple(
            Push(block, _ACTIONS[direction], tuple(members), force, required, _OUTCOMES[outcome])
            for (block, direction, force, required, outcome), members in zip(
                self._attempts.tolist(), agents, strict=True
            )
        )

    @cached_property
    def failed_moves(self) -> tuple[FailedMove, ...]:
        """The individual moves that failed, by ascending agent, including those of failed pushes."""
        return tuple(
            FailedMove(i, _ACTIONS[action], _FAILURES[failure])
            for i, (action, failure) in enumerate(
                zip(self._actions.tolist(), self._agent_report[:, arrays.AGENT_FAILURE].tolist(), strict=True)
            )
            if failure >= 0
        )

    def _fields(self) -> tuple[object, ...]:
        return self.reward, self.terminated, self.truncated, self.delivered, self.pushes, self.failed_moves

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StepReport) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def __repr__(self) -> str:
        return (
            f"StepReport(reward={self.reward}, terminated={self.terminated}, truncated={self.truncated}, "
            f"delivered={self.delivered}, pushes={self.pushes}, failed_moves={self.failed_moves})"
        )

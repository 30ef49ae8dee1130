"""What the controllers of one world share: the live state, the ways to faces, and the meetings at faces."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cube_env import paths
from cube_env.arrays import ALIVE, COL, ROW, WEIGHT, IntArray
from cube_env.constants import DISPLACEMENT, PUSH_DIRECTION, Action, Cell, Face
from cube_env.state import CubeState

FaceKey = tuple[int, Face]
"""A face of a block: block id and face."""

STEP_TOWARDS: dict[Face, Cell] = {face: DISPLACEMENT[PUSH_DIRECTION[face]] for face in Face}
"""One step towards the block from each of its faces."""


@dataclass(slots=True)
class _Route:
    """The ways of all agents that go to one face, measured once for each state of the world.

    Attributes:
        seekers: (n,) 1 for each agent that goes there.
        field: (K, K) distances with agents as walls.
        crowded: (K, K) distances through agents, for those whom agents have walled in.
        targets: number of cells to go to; 0 when the face has no staging cell, None when not measured.
        full: whether agents stand on all staging cells, so that the targets are ends of lines.
        is_crowded: whether agents wall somebody in, and `crowded` is measured.
    """

    seekers: IntArray
    field: IntArray
    crowded: IntArray
    targets: int | None = None
    full: bool = False
    is_crowded: bool = False


@dataclass(slots=True)
class Meeting:
    """The rendezvous at one face.

    Attributes:
        waiting: how many must be there for each agent that waits.
        released: those whose wait is over.
    """

    waiting: dict[int, int] = field(default_factory=dict)
    released: set[int] = field(default_factory=set)

    def release(self) -> None:
        """Set everybody free who waits for no more agents than are here."""
        here = len(self.waiting)
        self.released.update(agent for agent, count in self.waiting.items() if count <= here)


class Ground:
    """The live state as the controllers of one episode see it.

    Args:
        state: the arrays of the episode.
    """

    def __init__(self, state: CubeState) -> None:
        self.state = state
        self.meetings: dict[FaceKey, Meeting] = {}
        self._routes: dict[FaceKey, _Route] = {}
        side = state.side
        self._targets = np.empty((max(side, 1), 2), dtype=np.int32)
        self._queue = np.empty(side * side, dtype=np.int32)

    def changed(self) -> None:
        """Note that the world has moved on."""
        for route in self._routes.values():
            route.targets = None

    def is_live(self, block: int) -> bool:
        """Whether a block is still on the board."""
        return bool(self.state.block_table[block, ALIVE])

    def cell(self, block: int) -> Cell:
        """Top-left cell of a block."""
        row, col = self.state.block_table[block, :WEIGHT].tolist()
        return row, col

    def place_in_line(self, agent: int, key: FaceKey) -> int:
        """Place of an agent in its line at a face: 0 on a face cell, k behind k agents, -1 when not aligned."""
        block, face = key
        return paths.place_in_line(self.state.grid, self.state.agents, agent, block, *STEP_TOWARDS[face])

    def is_aligned(self, agent: int, key: FaceKey) -> bool:
        """Whether an agent is on a face cell of a block or in a gap-free line of agents behind one."""
        return self.place_in_line(agent, key) >= 0

    def way_on(self, agent: int, key: FaceKey, last: Action) -> Action:
        """The step by which an agent on a face cell, come by `last`, should go on along the face; STAY to stop."""
        block, face = key
        return Action(paths.way_on(self.state.grid, self.state.agents, agent, block, *STEP_TOWARDS[face], last))

    def face_of(self, agent: int, block: int) -> Face | None:
        """The face of a block that an agent is aligned with; the first of left, right, up, down when there are two."""
        return next((face for face in Face if self.is_aligned(agent, (block, face))), None)

    def seek(self, agent: int, key: FaceKey) -> None:
        """Enter an agent among those who go to a face."""
        route = self._routes.get(key)
        if route is None:
            shape = self.state.grid.shape
            seekers = np.zeros(len(self.state.agents), dtype=np.int32)
            route = _Route(seekers, np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.int32))
            self._routes[key] = route
        route.seekers[agent] = 1
        route.targets = None

    def stop_seeking(self, agent: int, key: FaceKey) -> None:
        """Take an agent from those who go to a face."""
        route = self._routes[key]
        route.seekers[agent] = 0
        if not route.seekers.any():
            del self._routes[key]

    def has_staging_cell(self, key: FaceKey) -> bool:
        """Whether the face has any cell to push from that is not wall or block."""
        return self._measured(key).targets != 0

    def is_cut_off(self, agent: int, key: FaceKey) -> bool:
        """Whether a seeker has no way to a free cell of a face: agents stand on all of them, or wall it in."""
        route = self._measured(key)
        row, col = self.state.agents[agent].tolist()
        return route.full or bool(route.field[row, col] == paths.UNREACHED)

    def step_to(self, agent: int, key: FaceKey) -> Action | None:
        """Give the next step of a shortest way of a seeker to a face.

        Agents count as walls; an agent that they wall in follows its way through them, and stays while the next cell
        is taken.

        Returns:
            The primitive; None when blocks and walls leave no way at all.
        """
        route = self._measured(key)
        row, col = self.state.agents[agent].tolist()
        step = paths.next_step(self.state.grid, route.field, row, col)
        if step == paths.UNREACHED and route.is_crowded:
            step = paths.next_step(self.state.grid, route.crowded, row, col)
        return None if step == paths.UNREACHED else Action(step)

    def _measured(self, key: FaceKey) -> _Route:
        route = self._routes[key]
        if route.targets is None:
            grid, block = self.state.grid, self.state.block_table[key[0]]
            route.targets, route.full = paths.staging_targets(
                grid, block[ROW], block[COL], block[WEIGHT], *STEP_TOWARDS[key[1]], self._targets
            )
            if route.targets:
                targets = self._targets[: route.targets]
                missing = paths.distance_field(grid, targets, route.seekers, False, route.field, self._queue)
                route.is_crowded = missing > 0
                if missing:
                    paths.distance_field(grid, targets, route.seekers, True, route.crowded, self._queue)
        return route

"""What symbolic actions share in one episode: the board as it is now, routes, meetings, and who does what."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np

from cube_env import paths
from cube_env.arrays import AGENT_ATTEMPT, ALIVE, BLOCK_STATUS, BLOCK_STILL, COL, COUNT_ATTEMPTS, ROW, IntArray
from cube_env.constants import DISPLACEMENT, STEP_TOWARDS, Action, Cell, Face
from cube_env.observation import HistoryEntry
from cube_env.state import CubeState


class Meeting:
    """Those who wait in one place, each for a number of agents."""

    def __init__(self) -> None:
        self.waiting: dict[int, int] = {}
        """How many must be there, for each agent that waits."""
        self.released: set[int] = set()
        """Those whose wait is over and who have not left yet."""
        self._released_with = -1

    def join(self, agent: int, count: int) -> None:
        """Wait until `count` agents are there."""
        self.waiting[agent] = count
        self._released_with = -1

    def leave(self, agent: int) -> None:
        """Wait no more."""
        self.waiting.pop(agent, None)
        self.released.discard(agent)

    def release(self, others: int = 0) -> None:
        """Set everybody free who waits for no more agents than wait here, with `others` besides."""
        here = len(self.waiting) + others
        if here > self._released_with:
            self._released_with = here
            self.released.update(agent for agent, count in self.waiting.items() if count <= here)


HISTORY_LENGTH = 5
"""Ended symbolic actions that an observation shows."""


class Roster:
    """The actions of a team.

    Args:
        agents: number of agents.
    """

    def __init__(self, agents: int) -> None:
        self._running: list[Callable[[], HistoryEntry] | None] = [None] * agents
        self._ended: list[deque[HistoryEntry]] = [deque(maxlen=HISTORY_LENGTH) for _ in range(agents)]
        self._free_since = dict.fromkeys(range(agents), 0)
        self.moment = 0
        """Number of actions that have ended; distinguishes the moments between two ends."""

    def begin(self, agent: int, entry: Callable[[], HistoryEntry]) -> None:
        """Note that an action begins.

        Args:
            agent: whose action it is.
            entry: returns how far the action is by now.
        """
        self._running[agent] = entry
        self._free_since.pop(agent, None)

    def end(self, agent: int, entry: HistoryEntry) -> None:
        """Note that an agent's action has ended, and how."""
        self.moment += 1
        self._running[agent] = None
        # Taken out and put in again, so that the latest stand last.
        self._free_since.pop(agent, None)
        self._free_since[agent] = self.moment
        self._ended[agent].append(entry)

    def free(self, asking: int, last_asked: int) -> int:
        """Return the number of agents that have nothing to do, as far as one who asks can know.

        An agent between two actions of its plan has none running for an instant. Agents are asked in index order, and
        before each round all who have a plan begin its next action. So the agents behind the one who asks have ended
        their actions before this round, and those before it have if they were free when it asked last.

        Args:
            asking: index of the agent who asks.
            last_asked: `moment` when it asked last.
        """
        doubtful = 0
        for agent, since in reversed(self._free_since.items()):
            if since <= last_asked:
                break
            doubtful += agent < asking
        return len(self._free_since) - doubtful

    def history(self, agent: int) -> tuple[HistoryEntry, ...]:
        """Return the last actions of an agent, oldest first; one that runs comes last, with the status `running`."""
        running = self._running[agent]
        return (*self._ended[agent], *(() if running is None else (running(),)))


FindTargets = Callable[[IntArray], tuple[int, bool]]
"""Writes the cells to go to into the array given, (K, 2); gives their number, and whether agents hold all that were
wanted, so that these are only next best. No closure: a copy of the episode would look at the board of the original."""


class Scratch:
    """Arrays that a search needs and nobody keeps."""

    def __init__(self, state: CubeState) -> None:
        side = state.side
        self.targets = np.empty((max(side, 4), 2), dtype=np.int32)
        self.field = np.empty((side + 2) ** 2, dtype=np.int32)
        self.queue = np.empty(side * side, dtype=np.int32)
        self.cells = np.empty((side * side, 2), dtype=np.int32)
        self.seekers = np.empty(len(state.agents), dtype=np.int32)


class Route:
    """The ways of all agents that go to one place.

    Args:
        state: the arrays of the episode.
        find: finds the cells of the place.
        scratch: shared by the routes of an episode.
    """

    def __init__(self, state: CubeState, find: FindTargets, scratch: Scratch) -> None:
        self._state = state
        self._find = find
        self._scratch = scratch
        n = len(state.agents)
        self.seekers = np.zeros(n, dtype=np.int32)
        self._steps = np.zeros(n, dtype=np.int32)
        self._cut_off = np.zeros(n, dtype=np.int32)
        self._measured_at = -1
        self.targets = 0
        """Number of cells to go to."""
        self.full = False
        """Whether agents hold all cells that were wanted."""
        self.steps: list[int] = []
        """The next primitive of each seeker; -1 when blocks and walls leave no way."""
        self.cut_off: list[int] = []
        """1 for each seeker that agents, blocks and walls leave no way."""

    def join(self, agent: int) -> None:
        """Enter an agent among those who go there."""
        self.seekers[agent] = 1
        self._measured_at = -1

    def leave(self, agent: int) -> bool:
        """Take an agent away; true when nobody is left."""
        self.seekers[agent] = 0
        return not self.seekers.any()

    def measure(self, version: int) -> Route:
        """Bring the ways up to date with a version of the state."""
        if self._measured_at != version:
            self._measured_at = version
            scratch, state = self._scratch, self._state
            self.targets, self.full = self._find(scratch.targets)
            if self.targets:
                paths.measure_ways(
                    state.grid,
                    state.agents,
                    scratch.targets[: self.targets],
                    self.seekers,
                    scratch.field,
                    scratch.queue,
                    self._steps,
                    self._cut_off,
                )
                self.steps, self.cut_off = self._steps.tolist(), self._cut_off.tolist()
        return self

    def way(self, agent: int) -> list[Cell]:
        """Return the cells that an agent has before it on its way, if nobody else moves; empty where there is none."""
        scratch, state = self._scratch, self._state
        found, _ = self._find(scratch.targets)
        targets = scratch.targets[:found]
        length = paths.find_way(
            state.grid, state.agents, agent, targets, scratch.seekers, scratch.field, scratch.queue, scratch.cells
        )
        return [(row, col) for row, col in scratch.cells[:length].tolist()]


FaceKey = tuple[int, Face]
"""A face of a block: block id and face."""

NO_BLOCK = -1

_STEP_BY = {step: int(action) for action, step in DISPLACEMENT.items()}

SWING = 4
"""Steps to and fro between two cells after which an agent lets others pass."""


class Attempt(NamedTuple):
    """A push attempt of the last step; the fields are those of `Push`, as numbers."""

    block: int
    direction: int
    force: int
    required: int
    outcome: int


class EpisodeState:
    """The live state as the controllers of one episode see it.

    Args:
        state: the arrays of the episode.
    """

    def __init__(self, state: CubeState) -> None:
        n = len(state.agents)
        self.state = state
        self.version = 0
        """Counts the states of the world; an answer that depends on the state alone holds for one version."""
        self.blocks: list[list[int]] = state.block_table.tolist()
        """Row, col, weight, and 1 while it is there, of each block."""
        self.places: list[int] = [-1] * n
        """Place of each agent in its line at the face it aims at: 0 on a face cell, k behind k agents, -1 elsewhere."""
        self.roster = Roster(n)
        self.meetings: dict[FaceKey, Meeting] = {}
        self.waiting = Meeting()
        """Those who wait for the rest of the team."""
        self.pushing = np.full(n, NO_BLOCK, dtype=np.int32)
        """(n,) the block that each agent's running action pushes, or `NO_BLOCK`."""
        self._aims = np.full((n, 3), NO_BLOCK, dtype=np.int32)
        self._places_array = np.empty(n, dtype=np.int32)
        self._trail = deque([state.agents.copy()], maxlen=SWING + 1)
        self._who_swings: list[int] | None = None
        self._attempts: list[Attempt] | None = None
        self._attempt_of: list[int] = []
        self._routes: dict[Hashable, Route] = {}
        self._scratch = Scratch(state)
        self._carried: dict[int, Cell] = {}
        """How far blocks have been moved by changes of the board from outside, down and right."""
        self._removed: set[int] = set()

    def changed(self) -> None:
        """Note that the world has moved on."""
        self.version += 1
        self.blocks = self.state.block_table.tolist()
        paths.places_in_line(self.state.grid, self.state.agents, self._aims, self._places_array)
        self.places = self._places_array.tolist()
        self._trail.append(self.state.agents.copy())
        self._who_swings = None
        self._attempts = None

    def altered(self) -> None:
        """Note that the board was changed from outside: no step has led here."""
        self.version += 1
        before, self.blocks = self.blocks, self.state.block_table.tolist()
        for block, (old, new) in enumerate(zip(before, self.blocks, strict=False)):
            down, right = self._carried.get(block, (0, 0))
            self._carried[block] = down + new[ROW] - old[ROW], right + new[COL] - old[COL]
            if old[ALIVE] and not new[ALIVE]:
                self._removed.add(block)
        paths.places_in_line(self.state.grid, self.state.agents, self._aims, self._places_array)
        self.places = self._places_array.tolist()
        self._trail.clear()
        self._trail.append(self.state.agents.copy())
        self._who_swings = None

    def was_removed(self, block: int) -> bool:
        """Whether a block was taken off the board, and not delivered."""
        return block in self._removed

    def pushed_to(self, block: int) -> Cell:
        """Where a block would be if nothing but pushes had moved it: another cell after each push that moves it."""
        row, col, _, _ = self.blocks[block]
        down, right = self._carried.get(block, (0, 0))
        return row - down, col - right

    def is_live(self, block: int) -> bool:
        """Whether a block is still on the board."""
        return self.blocks[block][ALIVE] != 0

    def cell_of(self, agent: int) -> Cell:
        """Where an agent stands."""
        row, col = self.state.agents[agent].tolist()
        return row, col

    def square_of(self, block: int) -> tuple[int, int, int, int]:
        """Where a block lies, as pictures have it: column, row, width and height."""
        row, col, weight, _ = self.blocks[block]
        return col, row, weight, weight

    def lets_pass(self, agent: int) -> bool:
        """Whether an agent that walks should stand still for a step, so that it and another do not dodge for ever.

        Two agents in each other's way that turn aside in the same step are in each other's way again. So of those that
        have gone to and fro for `SWING` steps only the one with the highest index goes on.
        """
        if self._who_swings is None:
            self._who_swings = self._swinging()
        return agent in self._who_swings[:-1]

    def _swinging(self) -> list[int]:
        if len(self._trail) <= SWING:
            return []
        here, there = self._trail[-1], self._trail[-2]
        back = [(self._trail[-1 - step] == (here, there)[step % 2]).all(axis=1) for step in range(2, SWING + 1)]
        moved = (here != there).any(axis=1)
        return np.flatnonzero(np.logical_and.reduce([moved, *back])).tolist()

    def aim(self, agent: int, key: FaceKey) -> int:
        """Note that an agent acts at a face from now on, and give its place there: see `places`."""
        row_step, col_step = STEP_TOWARDS[key[1]]
        self._aims[agent] = key[0], row_step, col_step
        state = self.state
        self.places[agent] = paths.place_in_line(state.grid, state.agents, agent, key[0], row_step, col_step)
        return self.places[agent]

    def aimed_face(self, agent: int, block: int) -> Face:
        """The face of a block at which an agent acted last; the left one, from which it is delivered, where at none."""
        aimed, *towards = self._aims[agent].tolist()
        return next((face for face in Face if aimed == block and STEP_TOWARDS[face] == tuple(towards)), Face.left)

    def is_aligned(self, agent: int, key: FaceKey) -> bool:
        """Whether an agent is on a face cell of a block or in a gap-free line of agents behind one."""
        block, face = key
        return paths.place_in_line(self.state.grid, self.state.agents, agent, block, *STEP_TOWARDS[face]) >= 0

    def face_of(self, agent: int, block: int) -> Face | None:
        """The face of a block that an agent is aligned with; the first of left, right, up, down when there are two."""
        return next((face for face in Face if self.is_aligned(agent, (block, face))), None)

    def way_on(self, agent: int, key: FaceKey, last: int) -> int:
        """The step by which an agent on a face cell, come by `last`, should go on along the face; STAY to stop."""
        block, face = key
        return paths.way_on(self.state.grid, self.state.agents, agent, block, *STEP_TOWARDS[face], last)

    def way_along(self, agent: int, key: FaceKey, way: Sequence[Cell], last: int) -> list[Cell]:
        """The cells by which an agent that has gone a way would go on along a face, by `way_on`, if nobody else moves.

        Args:
            agent: index of the agent.
            key: the face.
            way: the cells from its own to the last one.
            last: the primitive by which it came to its own cell.
        """
        grid, agents = self.state.grid.copy(), self.state.agents.copy()
        found: list[Cell] = []
        block, face = key
        towards = STEP_TOWARDS[face]
        grid[way[0]] = 0
        cell = way[-1]
        if len(way) > 1:
            last = _STEP_BY[cell[0] - way[-2][0], cell[1] - way[-2][1]]
        while True:
            agents[agent] = cell
            grid[cell] = agent + 1
            if paths.place_in_line(grid, agents, agent, block, *towards) != 0:
                return found
            last = paths.way_on(grid, agents, agent, block, *towards, last)
            if last == Action.STAY:
                return found
            grid[cell] = 0
            down, right = DISPLACEMENT[Action(last)]
            cell = cell[0] + down, cell[1] + right
            found.append(cell)

    def seek(self, agent: int, key: Hashable, find: FindTargets) -> Route:
        """Enter an agent among those who go to the place that `key` names and `find` finds."""
        route = self._routes.get(key)
        if route is None:
            route = self._routes[key] = Route(self.state, find, self._scratch)
        route.join(agent)
        return route

    def stop_seeking(self, agent: int, key: Hashable) -> None:
        """Take an agent from those who go to a place."""
        if self._routes[key].leave(agent):
            del self._routes[key]

    def staging_targets(self, key: FaceKey, targets: IntArray) -> tuple[int, bool]:
        """Find where an agent that goes to a face should go: see `paths.staging_targets`."""
        row, col, weight, _ = self.blocks[key[0]]
        return paths.staging_targets(self.state.grid, row, col, weight, *STEP_TOWARDS[key[1]], targets)

    def attempt_of(self, agent: int) -> Attempt | None:
        """The push attempt of the last step that an agent took part in."""
        if self._attempts is None:
            world = self.state.world
            rows = world.attempts[: world.counters[COUNT_ATTEMPTS]].tolist()
            self._attempts = [Attempt(*row) for row in rows]
            self._attempt_of = world.agent_report[:, AGENT_ATTEMPT].tolist()
        index = self._attempt_of[agent]
        return self._attempts[index] if index >= 0 else None

    def was_displaced(self, block: int) -> bool:
        """Whether a block moved in the last step."""
        return bool(self.state.world.block_report[block, BLOCK_STATUS] != BLOCK_STILL)

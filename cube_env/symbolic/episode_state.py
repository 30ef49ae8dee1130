"""State shared by the symbolic actions of an episode: the current board, routes, meetings, and agents' activity."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence

import numpy as np

from cube_env import paths
from cube_env.arrays import ALIVE, BLOCK_STATUS, BLOCK_STILL, COL, ROW, IntArray
from cube_env.constants import DISPLACEMENT, STEP_TOWARDS, Action, Cell, Face
from cube_env.observation import HISTORY_LENGTH, HistoryEntry
from cube_env.state import CubeState, Push


class Meeting:
    """The agents that wait in one place, each for a number of agents."""

    def __init__(self) -> None:
        self.waiting: dict[int, int] = {}
        """Required number of agents, for each waiting agent."""
        self.released: set[int] = set()
        """Agents that were released and have not left yet."""
        self._released_with = -1

    def join(self, agent: int, count: int) -> None:
        """Start waiting until `count` agents are there."""
        self.waiting[agent] = count
        self._released_with = -1

    def leave(self, agent: int) -> None:
        """Stop waiting."""
        self.waiting.pop(agent, None)
        self.released.discard(agent)

    def release(self, others: int = 0) -> None:
        """Release every agent whose required number is met by the agents waiting here plus `others`."""
        here = len(self.waiting) + others
        if here > self._released_with:
            self._released_with = here
            self.released.update(agent for agent, count in self.waiting.items() if count <= here)


class Roster:
    """The current and past actions of a team.

    Args:
        agents: number of agents.
    """

    def __init__(self, agents: int) -> None:
        self._running: list[Callable[[], HistoryEntry] | None] = [None] * agents
        self._ended: list[deque[HistoryEntry]] = [deque(maxlen=HISTORY_LENGTH) for _ in range(agents)]
        self._free_since = dict.fromkeys(range(agents), 0)
        self.moment = 0
        """Number of actions that have ended; identifies the moments between two ends."""

    def begin(self, agent: int, entry: Callable[[], HistoryEntry]) -> None:
        """Record the start of an action.

        Args:
            agent: the agent that acts.
            entry: returns the current history entry of the action.
        """
        self._running[agent] = entry
        self._free_since.pop(agent, None)

    def end(self, agent: int, entry: HistoryEntry) -> None:
        """Record the end of an agent's action and its result."""
        self.moment += 1
        self._running[agent] = None
        # Remove and insert again, so that the latest entries come last.
        self._free_since.pop(agent, None)
        self._free_since[agent] = self.moment
        self._ended[agent].append(entry)

    def free(self, asking: int, last_asked: int) -> int:
        """Return the number of idle agents, as far as the asking agent can know.

        Between two actions of its plan, an agent has no running action for an instant. Agents ask in index order, and
        before each round every agent with a plan starts its next action. So idle agents after the asking one ended
        their actions before this round. Agents before it count if they were free when it last asked.

        Args:
            asking: index of the agent that asks.
            last_asked: `moment` of its last call.
        """
        doubtful = 0
        for agent, since in reversed(self._free_since.items()):
            if since <= last_asked:
                break
            doubtful += agent < asking
        return len(self._free_since) - doubtful

    def history(self, agent: int) -> tuple[HistoryEntry, ...]:
        """Return the last actions of an agent, oldest first; a running one comes last, with the status `running`."""
        running = self._running[agent]
        return (*self._ended[agent], *(() if running is None else (running(),)))


def is_aligned(state: CubeState, agent: int, block: int, face: Face) -> bool:
    """Whether an agent is on a face cell of a block or in a gap-free line of agents behind one."""
    return paths.place_in_line(state.grid, state.agents, agent, block, *STEP_TOWARDS[face]) >= 0


def face_of(state: CubeState, agent: int, block: int) -> Face | None:
    """Return the face of a block that an agent is aligned with; if two, the first of left, right, up, down."""
    return next((face for face in Face if is_aligned(state, agent, block, face)), None)


FindTargets = Callable[[], tuple[IntArray, bool]]
"""Returns the target cells, (m, 2), and whether agents occupy all preferred cells, so that these are second best. Must
not be a closure: a copied episode would look at the original's board."""


class Route:
    """The paths of all agents that go to one place.

    Args:
        state: the arrays of the episode.
        find: finds the target cells of the place.
    """

    def __init__(self, state: CubeState, find: FindTargets) -> None:
        self._state = state
        self._find = find
        self.seekers = np.zeros(len(state.agents), dtype=np.int32)
        self._measured_at = -1
        self.targets = 0
        """Number of target cells."""
        self.full = False
        """Whether agents occupy all preferred cells."""
        self.steps: list[int] = []
        """The next primitive of each seeker; -1 if blocks and walls leave no path."""
        self.cut_off: list[int] = []
        """1 for each seeker without a path around agents, blocks and walls."""

    def join(self, agent: int) -> None:
        """Add an agent to the seekers."""
        self.seekers[agent] = 1
        self._measured_at = -1

    def leave(self, agent: int) -> bool:
        """Remove an agent; return true if none is left."""
        self.seekers[agent] = 0
        return not self.seekers.any()

    def measure(self, version: int) -> Route:
        """Update the paths to a version of the state."""
        if self._measured_at != version:
            self._measured_at = version
            targets, self.full = self._find()
            self.targets = len(targets)
            if self.targets:
                steps, cut_off = paths.measure_ways(self._state.grid, self._state.agents, targets, self.seekers)
                self.steps, self.cut_off = steps.tolist(), cut_off.tolist()
        return self

    def way(self, agent: int) -> list[Cell]:
        """Return the cells ahead of an agent on its path if no other agent moves; empty if there is no path."""
        targets, _ = self._find()
        cells = paths.find_way(self._state.grid, self._state.agents, agent, targets)
        return [(row, col) for row, col in cells.tolist()]


FaceKey = tuple[int, Face]
"""Identifies a face of a block: block id and face."""

NO_BLOCK = -1

_STEP_BY = {step: int(action) for action, step in DISPLACEMENT.items()}

SWING = 4
"""Steps back and forth between two cells after which an agent lets others pass."""


class EpisodeState:
    """The live state of an episode, as its controllers see it.

    Args:
        state: the arrays of the episode.
    """

    def __init__(self, state: CubeState) -> None:
        n = len(state.agents)
        self.state = state
        self.version = 0
        """Counts the states of the world; a result that depends only on the state is valid for one version."""
        self.blocks: list[list[int]] = state.block_table.tolist()
        """Row, col, weight, and 1 while on the board, for each block."""
        self.places: list[int] = [-1] * n
        """Each agent's position in the line at the face it aims at: 0 on a face cell, k behind k agents, else -1."""
        self.roster = Roster(n)
        self.meetings: dict[FaceKey, Meeting] = {}
        self.waiting = Meeting()
        """The agents that wait for the rest of the team."""
        self.pushing = np.full(n, NO_BLOCK, dtype=np.int32)
        """(n,) the block that each agent's running action pushes, or `NO_BLOCK`."""
        self._aims = np.full((n, 3), NO_BLOCK, dtype=np.int32)
        self._trail = deque([state.agents.copy()], maxlen=SWING + 1)
        self._who_swings: list[int] | None = None
        self._push_of: dict[int, Push] = {}
        self._routes: dict[Hashable, Route] = {}
        self._carried: dict[int, Cell] = {}
        """How far outside changes of the board have moved each block, down and right."""
        self._removed: set[int] = set()

    def changed(self, pushes: Sequence[Push]) -> None:
        """Record that the world has advanced by a step, with these push attempts."""
        self._push_of = {agent: push for push in pushes for agent in push.agents}
        self._look()

    def altered(self) -> None:
        """Record that the board was changed from outside, without a step."""
        before = self.blocks
        self._trail.clear()
        self._look()
        for block, (old, new) in enumerate(zip(before, self.blocks, strict=False)):
            down, right = self._carried.get(block, (0, 0))
            self._carried[block] = down + new[ROW] - old[ROW], right + new[COL] - old[COL]
            if old[ALIVE] and not new[ALIVE]:
                self._removed.add(block)

    def _look(self) -> None:
        """Read the board after a change."""
        self.version += 1
        self.blocks = self.state.block_table.tolist()
        self.places = paths.places_in_line(self.state.grid, self.state.agents, self._aims).tolist()
        self._trail.append(self.state.agents.copy())
        self._who_swings = None

    def was_removed(self, block: int) -> bool:
        """Whether a block was removed from the board without being delivered."""
        return block in self._removed

    def pushed_to(self, block: int) -> Cell:
        """Return the cell a block would have if only pushes had moved it; it changes with each successful push."""
        row, col, _, _ = self.blocks[block]
        down, right = self._carried.get(block, (0, 0))
        return row - down, col - right

    def is_live(self, block: int) -> bool:
        """Whether a block is still on the board."""
        return self.blocks[block][ALIVE] != 0

    def cell_of(self, agent: int) -> Cell:
        """Return the cell of an agent."""
        row, col = self.state.agents[agent].tolist()
        return row, col

    def square_of(self, block: int) -> tuple[int, int, int, int]:
        """Return the square of a block in picture coordinates: column, row, width and height."""
        row, col, weight, _ = self.blocks[block]
        return col, row, weight, weight

    def lets_pass(self, agent: int) -> bool:
        """Whether a walking agent should stay for one step, so that two agents do not dodge each other forever.

        If two agents in each other's way turn aside in the same step, they meet again. So of the agents that have gone
        back and forth for `SWING` steps, only the one with the highest index goes on.
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
        """Record that an agent acts at a face from now on, and return its position there; see `places`."""
        row_step, col_step = STEP_TOWARDS[key[1]]
        self._aims[agent] = key[0], row_step, col_step
        state = self.state
        self.places[agent] = paths.place_in_line(state.grid, state.agents, agent, key[0], row_step, col_step)
        return self.places[agent]

    def aimed_face(self, agent: int, block: int) -> Face:
        """Return the face of a block at which an agent last acted; by default the left, from which it is delivered."""
        aimed, *towards = self._aims[agent].tolist()
        return next((face for face in Face if aimed == block and STEP_TOWARDS[face] == tuple(towards)), Face.left)

    def is_aligned(self, agent: int, key: FaceKey) -> bool:
        """Whether an agent is on a face cell of a block or in a gap-free line of agents behind one."""
        return is_aligned(self.state, agent, *key)

    def face_of(self, agent: int, block: int) -> Face | None:
        """Return the face of a block that an agent is aligned with; see `face_of`."""
        return face_of(self.state, agent, block)

    def way_on(self, agent: int, key: FaceKey, last: int) -> int:
        """Return the next step along the face for an agent that entered its face cell by `last`; STAY to stop."""
        block, face = key
        return paths.way_on(self.state.grid, self.state.agents, agent, block, *STEP_TOWARDS[face], last)

    def way_along(self, agent: int, key: FaceKey, way: Sequence[Cell], last: int) -> list[Cell]:
        """Return the cells along a face that `way_on` adds to an agent's path, if no other agent moves.

        Args:
            agent: index of the agent.
            key: the face.
            way: the cells of the path, from the agent's own to the last.
            last: the primitive by which the agent entered its own cell.
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
        """Add an agent to the seekers of the place that `key` identifies and `find` locates."""
        route = self._routes.get(key)
        if route is None:
            route = self._routes[key] = Route(self.state, find)
        route.join(agent)
        return route

    def stop_seeking(self, agent: int, key: Hashable) -> None:
        """Remove an agent from the seekers of a place."""
        if self._routes[key].leave(agent):
            del self._routes[key]

    def staging_targets(self, key: FaceKey) -> tuple[IntArray, bool]:
        """Find the target cells of an agent that goes to a face; see `paths.staging_targets`."""
        row, col, weight, _ = self.blocks[key[0]]
        return paths.staging_targets(self.state.grid, row, col, weight, *STEP_TOWARDS[key[1]])

    def attempt_of(self, agent: int) -> Push | None:
        """Return the push attempt of the last step that an agent took part in."""
        return self._push_of.get(agent)

    def was_displaced(self, block: int) -> bool:
        """Whether a block moved in the last step."""
        return bool(self.state.world.block_report[block, BLOCK_STATUS] != BLOCK_STILL)

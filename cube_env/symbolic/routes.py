"""The ways of all agents that go to one place, measured once for each state of the world."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cube_env import paths
from cube_env.arrays import IntArray
from cube_env.constants import Cell
from cube_env.state import CubeState

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

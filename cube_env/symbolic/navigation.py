"""Controllers that walk to a face of a block, away from it, to another agent, to the goal or to a cell."""

from __future__ import annotations

from functools import partial

import numpy as np

from cube_env.arrays import IntArray
from cube_env.constants import OPPOSITE_FACE, PUSH_DIRECTION, Cell
from cube_env.state import CubeState
from cube_env.symbolic.actions import Entity, Navigate, YieldBlock
from cube_env.symbolic.controller import BLOCK_GONE, NOT_ALIGNED, STAY, CubeController, RepeatController
from cube_env.symbolic.episode_state import EpisodeState, FaceKey
from maeil.actions import SymbolicAction
from maeil.controllers import SUCCESS, failed
from maeil.world import ActionEnd
from quorum_base.drawing import Way

NO_STAGING_CELL = failed("no_staging_cell")
NO_PATH = failed("no_path")


def is_there(state: CubeState, place: Navigate, agent: int) -> bool:
    """Whether an agent is at a place: next to the other agent, in the goal column, or on the cell."""
    row, col = state.agents[agent].tolist()
    return (row, col) in _cells(state, place)


def find_place(state: CubeState, place: Navigate) -> tuple[IntArray, bool]:
    """Find the target cells of a place: the free ones or, if there are none, those occupied by agents.

    Args:
        state: the arrays.
        place: where to go.

    Returns:
        The cells, (m, 2), and whether agents occupy all of them; there are none if all are blocks and walls.
    """
    codes = [(cell, int(state.grid[cell])) for cell in _cells(state, place)]
    free = [cell for cell, code in codes if code == 0]
    found = free or [cell for cell, code in codes if code > 0]
    return np.array(found, dtype=np.int32).reshape(-1, 2), not free


def _cells(state: CubeState, place: Navigate) -> list[Cell]:
    last = state.side - 1
    if place.entity is Entity.goal:
        return [(row, last) for row in range(state.side)]
    if place.entity is Entity.cell:
        assert place.cell is not None
        return [place.cell]
    row, col = state.agents[place.id].tolist()
    around = (row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)
    return [(r, c) for r, c in around if 0 <= r <= last and 0 <= c <= last]


class MoveToBlockController(CubeController):
    """Go to a free cell of a block's face, or to the end of a line of agents at it.

    Two rules keep a team from shutting itself out. An agent in a line moves on while it can reach a free cell of the
    face. An agent on a face cell moves on along the face if that is the only way to the cells beyond.
    """

    def __init__(
        self, episode: EpisodeState, agent: int, action: SymbolicAction, key: FaceKey, timeout: int | None
    ) -> None:
        super().__init__(episode, agent, action, timeout)
        self._key = key
        episode.aim(agent, key)
        self._route = episode.seek(agent, key, partial(episode.staging_targets, key))

    def check(self) -> ActionEnd | None:
        """End when the agent is aligned, or when there is no target or no path to it."""
        episode, agent = self.episode, self.agent
        if not episode.is_live(self._key[0]):
            return BLOCK_GONE
        place = episode.places[agent]
        if place == 0:
            self.step = episode.way_on(agent, self._key, self.step) if self.ticks else STAY
            return SUCCESS if self.step == STAY else None
        route = self._route.measure(episode.version)
        if not route.targets:
            return NO_STAGING_CELL
        if place > 0 and (route.full or route.cut_off[agent]):
            return SUCCESS
        step = route.steps[agent]
        if step < 0:
            return NO_PATH
        self.step = STAY if episode.lets_pass(agent) else step
        return None

    def way(self) -> Way:
        """Return the way to the face, and along it if the agent would shut others out."""
        episode, agent, start = self.episode, self.agent, self.episode.cell_of(self.agent)
        cells = self._route.way(agent) if episode.places[agent] != 0 else []
        cells += episode.way_along(agent, self._key, [start, *cells], self.step)
        return self.way_over(cells, episode.square_of(self._key[0]))

    def let_go(self) -> None:
        """Leave the seekers of the face."""
        self.episode.stop_seeking(self.agent, self._key)


class YieldBlockController(RepeatController):
    """Walk straight away from a face for some steps, whether the board allows them or not."""

    def __init__(self, episode: EpisodeState, agent: int, action: YieldBlock) -> None:
        super().__init__(episode, agent, action, PUSH_DIRECTION[OPPOSITE_FACE[action.face]], action.steps)
        self._key: FaceKey = action.block, action.face

    def check(self) -> ActionEnd | None:
        """Fail if the agent is not aligned at its first tick, or if the block is delivered."""
        if not self.episode.is_live(self._key[0]):
            return BLOCK_GONE
        aligned = self.ticks or self.episode.is_aligned(self.agent, self._key)
        return super().check() if aligned else NOT_ALIGNED


class NavigateController(CubeController):
    """Go to a place other than a face of a block: next to an agent, into the goal column, or to a cell."""

    def __init__(self, episode: EpisodeState, agent: int, action: Navigate) -> None:
        super().__init__(episode, agent, action, action.timeout)
        self._place = action
        self._key = action.entity, action.id, action.cell
        self._route = episode.seek(agent, self._key, partial(find_place, episode.state, action))

    def check(self) -> ActionEnd | None:
        """End on arrival, or if blocks and walls leave no path."""
        if is_there(self.episode.state, self._place, self.agent):
            return SUCCESS
        route = self._route.measure(self.episode.version)
        if not route.targets or route.steps[self.agent] < 0:
            return NO_PATH
        self.step = STAY if self.episode.lets_pass(self.agent) else route.steps[self.agent]
        return None

    def way(self) -> Way:
        """Return the way to the nearest cell of the place."""
        cells, place = self._route.way(self.agent), self._place
        if place.entity is not Entity.agent:
            return self.way_over(cells)
        assert place.id is not None
        row, col = self.episode.cell_of(place.id)
        return self.way_over(cells, (col, row, 1, 1))

    def let_go(self) -> None:
        """Leave the seekers of the place."""
        self.episode.stop_seeking(self.agent, self._key)

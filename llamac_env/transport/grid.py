"""The vocabulary of grid transportation, and the geometry of its grids.

Places are counted in half units, so that both cells and corners are integers: the place `(1, 3)` is the centre of the
cell `0.5, 1.5`, `(2, 0)` the corner `1.0, 0.0`. Rows come first.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from quorum_base.environments.arguments import one_of, whole
from quorum_base.environments.errors import LayoutError, WorldError


class Colour(StrEnum):
    """A colour of boxes and targets."""

    blue = "blue"
    red = "red"
    green = "green"
    purple = "purple"
    orange = "orange"


class Difficulty(StrEnum):
    """The two tasks."""

    easy = "easy"  # boxes in cells, any number in each
    hard = "hard"  # boxes on corners, one on each


class EntryRule(StrEnum):
    """Whether a corner may be entered in the step in which its box leaves (Hard)."""

    final_state = "final_state"  # yes: only the positions after the step count
    start_empty = "start_empty"  # no: the corner must be empty before the step


class FailureCode(StrEnum):
    """Why an action is refused or fails; used in replies, outcomes and reasons of failed plans."""

    not_json = "not_json"  # the text contains no valid JSON
    not_an_object = "not_an_object"  # valid JSON, but not an object of agents and actions
    duplicate_agent = "duplicate_agent"  # an agent has two entries
    unknown_agent = "unknown_agent"  # a key names no agent of this grid
    not_an_action = "not_an_action"  # a value is not `move(box, destination)`
    unknown_colour = "unknown_colour"  # a box or target of an unknown colour
    other_colour = "other_colour"  # box and target differ in colour
    no_such_place = "no_such_place"  # a destination that this grid does not have
    no_such_box = "no_such_box"  # no box of that colour is left
    box_not_here = "box_not_here"  # no box of that colour within the agent's reach
    out_of_reach = "out_of_reach"  # the agent cannot move a box to that place
    already_there = "already_there"  # the box is at that place
    no_target = "no_target"  # the agent's cell has no target of that colour
    corner_taken = "corner_taken"  # under `start_empty`: a box is on that corner
    conflict = "conflict"  # two agents act on one box: both fail
    collision = "collision"  # two boxes on one corner: the episode fails


Place = tuple[int, int]
"""Row and column in half units: odd for the centres of cells, even for corners."""

PLACES = 4
"""Number of places an agent can move a box to, besides the target in its own cell."""

_NEIGHBOURS = ((-2, 0), (2, 0), (0, -2), (0, 2))
_CORNERS = ((-1, -1), (-1, 1), (1, -1), (1, 1))
LARGEST_SIDE = 64


@dataclass(frozen=True)
class Grid:
    """The cells of a board, with one agent in each, row by row.

    Attributes:
        rows: rows of cells.
        cols: columns of cells.
        difficulty: whether boxes are in cells (easy) or on corners (hard).
        entry_rule: whether a corner may be entered in the step in which its box leaves.

    Raises:
        LayoutError: it has no cell, or too many.
    """

    rows: int
    cols: int
    difficulty: Difficulty
    entry_rule: EntryRule = EntryRule.final_state

    def __post_init__(self) -> None:
        if not (1 <= self.rows <= LARGEST_SIDE and 1 <= self.cols <= LARGEST_SIDE):
            raise LayoutError(f"a grid of {self.rows} x {self.cols} cells: each side has 1 to {LARGEST_SIDE}")

    @cached_property
    def is_hard(self) -> bool:
        """Whether boxes are on corners."""
        return self.difficulty is Difficulty.hard

    @property
    def agents(self) -> int:
        """Number of agents."""
        return self.rows * self.cols

    @cached_property
    def cells(self) -> tuple[Place, ...]:
        """The centre of each agent's cell, by agent."""
        return tuple((2 * row + 1, 2 * col + 1) for row in range(self.rows) for col in range(self.cols))

    @cached_property
    def corners(self) -> tuple[Place, ...]:
        """All corners, row by row."""
        return tuple((2 * row, 2 * col) for row in range(self.rows + 1) for col in range(self.cols + 1))

    @cached_property
    def agent_of(self) -> dict[Place, int]:
        """The agent of each cell."""
        return {cell: agent for agent, cell in enumerate(self.cells)}

    @cached_property
    def box_places(self) -> tuple[Place, ...]:
        """The places that can hold boxes."""
        return self.corners if self.is_hard else self.cells

    @cached_property
    def reach(self) -> tuple[tuple[Place, ...], ...]:
        """The places from which an agent can move boxes, by agent: its cell (easy) or its four corners (hard)."""
        return self._destinations if self.is_hard else tuple((cell,) for cell in self.cells)

    @cached_property
    def slots(self) -> tuple[tuple[Place | None, ...], ...]:
        """The places an agent can move a box to, by agent, in the order of the primitives; None off the grid.

        Easy: the cell above, below, left, right. Hard: the corner top left, top right, bottom left, bottom right. The
        last place is its own cell: onto the target.
        """
        steps = _CORNERS if self.is_hard else _NEIGHBOURS
        inside = frozenset(self.box_places)
        found: list[tuple[Place | None, ...]] = []
        for row, col in self.cells:
            places = [(row + down, col + right) for down, right in steps]
            found.append((*(place if place in inside else None for place in places), (row, col)))
        return tuple(found)

    @cached_property
    def _destinations(self) -> tuple[tuple[Place, ...], ...]:
        return tuple(tuple(place for place in slots[:PLACES] if place is not None) for slots in self.slots)

    @cached_property
    def links(self) -> dict[Place, tuple[tuple[int, Place], ...]]:
        """The moves of a box from each place: the agent that makes it, and the destination."""
        found: dict[Place, list[tuple[int, Place]]] = {place: [] for place in self.box_places}
        for agent, places in enumerate(self.reach):
            for start in places:
                found[start] += [(agent, end) for end in self._destinations[agent] if end != start]
        return {place: tuple(moves) for place, moves in found.items()}

    @cached_property
    def handlers(self) -> dict[Place, frozenset[int]]:
        """The agents that can move a box at each place."""
        found: dict[Place, set[int]] = {place: set() for place in self.box_places}
        for agent, places in enumerate(self.reach):
            for place in places:
                found[place].add(agent)
        return {place: frozenset(agents) for place, agents in found.items()}

    def steps_to(self, place: Place, target: Place) -> int:
        """Return the fewest steps for a box, alone on the board, from a place onto a target, including placing."""
        down, right = abs(place[0] - target[0]), abs(place[1] - target[1])
        if self.is_hard:
            return (max(down, right) - 1) // 2 + 1
        return (down + right) // 2 + 1


def manhattan(place: Place, target: Place) -> float:
    """Return the Manhattan distance between two places, in cells, as used by LLaMAC's plan confirmation."""
    return (abs(place[0] - target[0]) + abs(place[1] - target[1])) / 2


def usual_rows(agents: int) -> int:
    """Return the rows of the grid for a number of agents.

    4, 8, 16 and 32 agents have the published 2x2, 2x4, 4x4 and 4x8. The result is the largest divisor up to the square
    root.
    """
    return max(rows for rows in range(1, agents + 1) if agents % rows == 0 and rows * rows <= agents)


def grid_for(agents: int, rows: int | None, difficulty: str, entry_rule: str) -> Grid:
    """Return the grid for a number of agents.

    Args:
        agents: Number of agents, one per cell.
        rows: Rows of cells; None: see `usual_rows`.
        difficulty: A value of `Difficulty`.
        entry_rule: A value of `EntryRule`.

    Raises:
        WorldError: The arguments are incompatible; the message says which part and why.
    """
    cells = whole("n", agents, 1)
    height = whole("rows", rows, 1) if rows is not None else usual_rows(cells)
    if cells % height:
        raise WorldError(f"rows: {height} rows do not divide n = {cells} cells evenly: choose a divisor, or null")
    return Grid(
        height,
        cells // height,
        Difficulty(one_of("difficulty", str(difficulty), map(str, Difficulty))),
        EntryRule(one_of("entry_rule", str(entry_rule), map(str, EntryRule))),
    )

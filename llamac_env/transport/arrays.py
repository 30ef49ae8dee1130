"""The primitives and boards of grid transportation as numbers and arrays.

`0` does nothing. `1 + 5 * colour + slot` moves a box of a colour, by its index in `Colour`, to one of the agent's
places (see `Grid.slots`): 0 to 3 are its neighbour cells or corners, 4 is the target in its own cell.

The arrays are states, agents' observations and action masks. A state is int8 `(2 rows + 1, 2 columns + 1, 10)`, by
place in half units: the boxes there by colour, then the targets. All functions accept a batch: leading dimensions in
front.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from llamac_env.transport.board import Board, BoxMove, Item
from llamac_env.transport.grid import PLACES, Colour, EntryRule, Grid
from quorum_base.environments.errors import ActionError

COLOURS = tuple(Colour)
SLOTS = PLACES + 1
PRIMITIVES = 1 + len(COLOURS) * SLOTS
"""Number of primitives."""
NOTHING = 0
"""The primitive that does nothing."""


def encode(grid: Grid, agent: int, move: BoxMove) -> int:
    """Return the number of a move.

    Raises:
        ActionError: the agent cannot move anything to that place.
    """
    try:
        slot = grid.slots[agent].index(move.to)
    except ValueError:
        raise ActionError(f"agent_{agent} cannot bring a box to {move.to} (in half units)") from None
    return 1 + COLOURS.index(move.colour) * SLOTS + slot


def decode(grid: Grid, agent: int, primitive: int) -> BoxMove | None:
    """Return the move of a number; None if it does nothing, including moves off the grid.

    Raises:
        ActionError: it is not a primitive.
    """
    if not 0 <= primitive < PRIMITIVES:
        raise ActionError(f"agent_{agent}: {primitive} is not an action; actions are 0 to {PRIMITIVES - 1}")
    if primitive == NOTHING:
        return None
    colour, slot = divmod(primitive - 1, SLOTS)
    place = grid.slots[agent][slot]
    return BoxMove(COLOURS[colour], place) if place is not None else None


def decode_joint(grid: Grid, joint: Sequence[int]) -> dict[int, BoxMove]:
    """Return the moves of a joint action by agent; agents that do nothing are left out.

    Raises:
        ActionError: a number is not a primitive.
    """
    moves = ((agent, decode(grid, agent, primitive)) for agent, primitive in enumerate(joint))
    return {agent: move for agent, move in moves if move is not None}


CountArray = npt.NDArray[np.int8]
IntArray = npt.NDArray[np.int64]

HALF = len(COLOURS)
"""Column of the targets of the first colour; the boxes come before."""
_COLUMN = {colour: column for column, colour in enumerate(COLOURS)}


class Geometry(NamedTuple):
    """The reach of the agents of a grid, as arrays."""

    slots: IntArray
    """(n, 5, 2): row and column of each place an agent can move a box to, its own cell last; -1 off the grid."""
    sees: IntArray
    """(n, p, 2): each place from which an agent can move boxes: its own cell, or its four corners."""


@cache
def geometry(grid: Grid) -> Geometry:
    """Return the geometry of a grid."""
    slots = np.array([[place or (-1, -1) for place in places] for places in grid.slots], dtype=np.int64)
    return Geometry(slots, slots[:, :PLACES] if grid.is_hard else slots[:, PLACES:])


def state_shape(grid: Grid) -> tuple[int, int, int]:
    """Return the shape of a state."""
    return 2 * grid.rows + 1, 2 * grid.cols + 1, 2 * HALF


def write_state(board: Board, state: CountArray) -> None:
    """Write a board into a state of its grid."""
    state[...] = 0
    for offset, items in ((0, board.boxes), (HALF, board.targets)):
        for colour, (row, col) in items:
            state[row, col, offset + _COLUMN[colour]] += 1


def read_state(grid: Grid, state: CountArray) -> Board:
    """Return the board of a state."""
    items: tuple[list[Item], list[Item]] = ([], [])
    for row, col, column in np.argwhere(state).tolist():
        is_target, colour = divmod(column, HALF)
        items[is_target].extend([Item(COLOURS[colour], (row, col))] * int(state[row, col, column]))
    return Board(grid, tuple(items[0]), tuple(items[1]))


def observations(grid: Grid, states: CountArray) -> CountArray:
    """Return agents' observations, int8 `(..., n, p + 1, 5)`: by colour, the boxes within reach, then targets."""
    slots, sees = geometry(grid)
    boxes = states[..., sees[..., 0], sees[..., 1], :HALF]
    targets = states[..., slots[:, PLACES:, 0], slots[:, PLACES:, 1], HALF:]
    return np.concatenate([boxes, targets], axis=-2)


def action_masks(grid: Grid, seen: CountArray) -> CountArray:
    """Return each agent's action mask, int8 `(..., n, 26)`; doing nothing is always possible.

    Args:
        grid: The cells and the rules.
        seen: The result of `observations`.
    """
    boxes, targets = seen[..., :-1, :], seen[..., -1, :]
    allowed = np.zeros((*seen.shape[:-2], HALF, SLOTS), dtype=np.bool_)
    allowed[..., :PLACES] = geometry(grid).slots[:, None, :PLACES, 0] >= 0
    allowed[..., PLACES] = targets > 0
    if grid.is_hard:
        here = np.moveaxis(boxes, -2, -1) > 0
        allowed[..., :PLACES] &= ~here
        if grid.entry_rule is EntryRule.start_empty:
            allowed[..., :PLACES] &= ~np.any(here, axis=-2, keepdims=True)
    allowed &= np.any(boxes > 0, axis=-2, keepdims=True).swapaxes(-2, -1)
    masks = np.empty((*seen.shape[:-2], PRIMITIVES), dtype=np.int8)
    masks[..., NOTHING] = 1
    masks[..., NOTHING + 1 :] = allowed.reshape(*allowed.shape[:-2], -1)
    return masks

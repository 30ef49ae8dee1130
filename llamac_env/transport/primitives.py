"""The primitives of grid transportation: a move as a number.

`0` does nothing. `1 + 5 * colour + slot` brings a box of a colour, by its place in `Colour`, to one of the agent's
places (see `Grid.slots`): 0 to 3 its neighbour cells or corners, 4 the target in its own cell.
"""

from __future__ import annotations

from collections.abc import Sequence

from llamac_env.transport.board import BoxMove
from llamac_env.transport.constants import Colour
from llamac_env.transport.grid import PLACES, Grid
from maeil.environments.errors import ActionError

COLOURS = tuple(Colour)
SLOTS = PLACES + 1
PRIMITIVES = 1 + len(COLOURS) * SLOTS
"""Number of primitives."""
NOTHING = 0
"""The primitive that does nothing."""


def encode(grid: Grid, agent: int, move: BoxMove) -> int:
    """Return the number of a move.

    Raises:
        ActionError: the agent cannot bring anything to that place.
    """
    try:
        slot = grid.slots[agent].index(move.to)
    except ValueError:
        raise ActionError(f"agent_{agent} cannot bring a box to {move.to} (in half units)") from None
    return 1 + COLOURS.index(move.colour) * SLOTS + slot


def decode(grid: Grid, agent: int, primitive: int) -> BoxMove | None:
    """Return the move of a number; None for one that does nothing, also because it leads off the grid.

    Raises:
        ActionError: it is no primitive.
    """
    if not 0 <= primitive < PRIMITIVES:
        raise ActionError(f"agent_{agent}: {primitive} is no action: they are 0 to {PRIMITIVES - 1}")
    if primitive == NOTHING:
        return None
    colour, slot = divmod(primitive - 1, SLOTS)
    place = grid.slots[agent][slot]
    return BoxMove(COLOURS[colour], place) if place is not None else None


def decode_joint(grid: Grid, joint: Sequence[int]) -> dict[int, BoxMove]:
    """Return the moves of a joint action by agent, without those that do nothing.

    Raises:
        ActionError: a number is no primitive.
    """
    moves = ((agent, decode(grid, agent, primitive)) for agent, primitive in enumerate(joint))
    return {agent: move for agent, move in moves if move is not None}

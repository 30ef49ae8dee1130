"""Actions, faces and outcomes of the block-pushing grid world.

Positions are `(row, col)`; row 0 is the top line, col 0 the left one, and the goal is the whole last column.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum

Cell = tuple[int, int]
"""A grid cell, `(row, col)`."""


class Action(IntEnum):
    """A primitive action, as `CubeEnv.step` takes it."""

    STAY = 0
    UP = 1
    DOWN = 2
    LEFT = 3
    RIGHT = 4


class Face(StrEnum):
    """A side of a block; pushing from the left face moves the block right."""

    left = "left"
    right = "right"
    up = "up"
    down = "down"


class Direction(StrEnum):
    """A direction of walking; `action` is the primitive."""

    up = "up"
    down = "down"
    left = "left"
    right = "right"

    @property
    def action(self) -> Action:
        """The primitive for this direction."""
        return Action[self.name.upper()]


class PushOutcome(IntEnum):
    """Result of a push attempt: the chain moved or was delivered, or the reason for the failure.

    If several reasons hold, the first of `wall, agent, block, force` is reported.
    """

    moved = 0
    delivered = 1
    wall = 2
    agent = 3
    block = 4
    force = 5


class MoveFailure(IntEnum):
    """Why an agent that wanted to walk did not move."""

    wall = 0
    block = 1
    agent = 2
    race = 3


DISPLACEMENT: dict[Action, Cell] = {
    Action.STAY: (0, 0),
    Action.UP: (-1, 0),
    Action.DOWN: (1, 0),
    Action.LEFT: (0, -1),
    Action.RIGHT: (0, 1),
}
"""Row and column offsets of each action."""

PUSH_DIRECTION: dict[Face, Action] = {
    Face.left: Action.RIGHT,
    Face.right: Action.LEFT,
    Face.up: Action.DOWN,
    Face.down: Action.UP,
}
"""The direction in which a block moves when pushed from a face."""

STEP_TOWARDS: dict[Face, Cell] = {face: DISPLACEMENT[PUSH_DIRECTION[face]] for face in Face}
"""Row and column offsets of one step towards a block from each of its faces."""

OPPOSITE_FACE: dict[Face, Face] = {face: Face(action.name.lower()) for face, action in PUSH_DIRECTION.items()}
"""The opposite face: a block pushed from a face moves towards the opposite one."""

"""The board as shapes of `quorum_base.drawing`."""

from __future__ import annotations

from collections import Counter
from math import ceil, sqrt

import numpy as np
import numpy.typing as npt

from llamac_env.transport.arrays import COLOURS, NOTHING, SLOTS
from llamac_env.transport.board import Board, Item
from llamac_env.transport.grid import Colour, Grid, Place
from quorum_base.drawing import Canvas, Drawing, Mark, MarkKind, Shape, Texture

_PAINT = {
    Colour.blue: ("#0072b2", "#56b4e9", Texture.PLAIN),
    Colour.red: ("#c8102e", "#ff6b6b", Texture.STRIPES),
    Colour.green: ("#009e73", "#2fc79b", Texture.DOTS),
    Colour.purple: ("#9467bd", "#c39be6", Texture.CROSSES),
    Colour.orange: ("#e69f00", "#f0b73c", Texture.WAVES),
}
_BOXES = {colour: number for number, colour in enumerate(_PAINT)}
_TARGETS = {colour: len(_PAINT) + number for number, colour in enumerate(_PAINT)}
_AGENT = 2 * len(_PAINT)
KINDS = (
    *(MarkKind(f"{colour} box", light, dark, texture=texture) for colour, (light, dark, texture) in _PAINT.items()),
    *(
        MarkKind(f"{colour} target", light, dark, Shape.RING, texture)
        for colour, (light, dark, texture) in _PAINT.items()
    ),
    MarkKind("agent of the cell", "#8a8a92", "#85858f", Shape.DISC),
)
_MARGIN = 0.25
"""Margin, in cells, around a grid with boxes on its corners."""
_ITEM, _DISC = 0.26, 0.2
"""Edge length of a box and of an agent's disc."""
_WAYS = {
    False: ("up", "down", "left", "right", "onto its target"),
    True: ("to the top left", "to the top right", "to the bottom left", "to the bottom right", "onto its target"),
}


def canvas(grid: Grid) -> Canvas:
    """Return the frame of a board."""
    return Canvas(grid.cols, grid.rows, KINDS, margin=_MARGIN if grid.is_hard else 0)


def draw(board: Board) -> Drawing:
    """Draw a board: boxes are filled, targets are frames.

    The disc of an agent is in the upper left of its cell, or in the middle if boxes are on the corners.
    """
    marks: dict[str, Mark] = {}
    aside = 0.5 - _DISC / 2 if board.grid.is_hard else 0.04
    for agent, (row, col) in enumerate(board.grid.cells):
        title = f"agent_{agent}"
        x, y = (col - 1) / 2 + aside, (row - 1) / 2 + 0.04
        marks[title] = Mark(_AGENT, x, y, _DISC, _DISC, label=str(agent), title=title, agent=agent)
    items = [(item, False) for item in board.targets] + [(item, True) for item in board.boxes]
    crowd = Counter(item.place for item, _ in items)
    placed: Counter[Place] = Counter()
    alike: Counter[tuple[Item, bool]] = Counter()
    for item, is_box in items:
        x, y = _spot(item.place, placed[item.place], crowd[item.place])
        what = f"{item.colour} {'box' if is_box else 'target'}"
        row, col = item.place
        marks[f"{what} {row}/{col} {alike[item, is_box]}"] = Mark(
            (_BOXES if is_box else _TARGETS)[item.colour], x, y, _ITEM, _ITEM, label=item.colour[0].upper(), title=what
        )
        placed[item.place] += 1
        alike[item, is_box] += 1
    return Drawing(b"", marks, f"{len(board.boxes)} boxes are not placed yet")


def image(board: Board) -> npt.NDArray[np.uint8]:
    """Paint the drawing of `draw`, uint8 `(height, width, 3)`."""
    from quorum_base.painting.board import board_image  # noqa: PLC0415 (imaging libraries take long to import)

    return board_image(canvas(board.grid), draw(board))


def _spot(place: Place, number: int, crowd: int) -> tuple[float, float]:
    """Return the left and upper edge of one of the items that share a place; they form a square around its centre."""
    columns = ceil(sqrt(crowd))
    down, right = divmod(number, columns)
    step = _ITEM + 0.03
    row, col = place
    return (
        col / 2 + (right - (columns - 1) / 2) * step - _ITEM / 2,
        row / 2 + (down - (ceil(crowd / columns) - 1) / 2) * step - _ITEM / 2,
    )


def primitive_name(primitive: int, grid: Grid) -> str:
    """Name a primitive of `llamac_env.transport.arrays`."""
    if primitive == NOTHING:
        return "nothing"
    colour, slot = divmod(primitive - 1, SLOTS)
    return f"{COLOURS[colour]} {_WAYS[grid.is_hard][slot]}"

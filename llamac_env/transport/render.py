"""Draws boards of grid transportation as text and as images."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from llamac_env.transport.board import Board, Item
from llamac_env.transport.grid import Colour, Place

Image = npt.NDArray[np.uint8]

CELL = 48
"""Pixels of a cell's edge."""
MARGIN = 14
"""Pixels around the grid, so that boxes on its edge are whole."""
BOX = 5
"""Half of a box's edge in pixels."""
PAINT: Mapping[Colour, tuple[int, int, int]] = {
    Colour.blue: (31, 119, 180),
    Colour.red: (214, 39, 40),
    Colour.green: (44, 160, 44),
    Colour.purple: (148, 103, 189),
    Colour.orange: (255, 127, 14),
}
PAPER = (250, 250, 248)
RULE = (150, 150, 150)
LETTERS: Mapping[Colour, str] = {colour: colour[0] for colour in Colour}


def render_ansi(board: Board) -> str:
    """Draw a board as text: a box is the first letter of its colour as a capital, a target in lower case.

    Easy boards show boxes and targets in the cells. Hard boards show targets in the cells and boxes on the corners,
    where `+` is an empty corner and `#` one with several boxes.
    """
    grid = board.grid
    inside = {cell: _letters(board, cell) for cell in grid.cells}
    width = max(3, *(len(text) for text in inside.values()))
    lines = []
    for row in range(2 * grid.rows + 1):
        if row % 2:
            cells = [inside[row, 2 * col + 1].center(width) for col in range(grid.cols)]
            lines.append("|" + "|".join(cells) + "|")
        else:
            corners = [_corner(board, (row, 2 * col)) for col in range(grid.cols + 1)]
            lines.append(("-" * width).join(corners))
    return "\n".join(lines)


def render_rgb(board: Board) -> Image:
    """Draw a board as an image, uint8 `(height, width, 3)`: boxes are filled squares, targets rings of their colour.

    A corner with several boxes has them side by side.
    """
    grid = board.grid
    image: Image = np.full((grid.rows * CELL + 2 * MARGIN, grid.cols * CELL + 2 * MARGIN, 3), PAPER, dtype=np.uint8)
    for row in range(grid.rows + 1):
        image[MARGIN + row * CELL, MARGIN : MARGIN + grid.cols * CELL + 1] = RULE
    for col in range(grid.cols + 1):
        image[MARGIN : MARGIN + grid.rows * CELL + 1, MARGIN + col * CELL] = RULE
    at: dict[Place, list[tuple[Item, bool]]] = {}
    for items, is_box in ((board.targets, False), (board.boxes, True)):
        for item in items:
            at.setdefault(item.place, []).append((item, is_box))
    for (row, col), shown in at.items():
        columns = min(len(shown), CELL // (2 * BOX + 2) if row % 2 else len(shown))
        for number, (item, is_box) in enumerate(shown):
            down, right = divmod(number, columns)
            rows = -(-len(shown) // columns)
            y = MARGIN + row * CELL // 2 + round((down - (rows - 1) / 2) * (2 * BOX + 2))
            x = MARGIN + col * CELL // 2 + round((right - (columns - 1) / 2) * (2 * BOX + 2))
            _paint(image, y, x, PAINT[item.colour], is_box=is_box)
    return image


def _paint(image: Image, y: int, x: int, colour: tuple[int, int, int], *, is_box: bool) -> None:
    image[max(y - BOX, 0) : y + BOX + 1, max(x - BOX, 0) : x + BOX + 1] = colour
    if not is_box:
        image[max(y - BOX + 2, 0) : y + BOX - 1, max(x - BOX + 2, 0) : x + BOX - 1] = PAPER


def _letters(board: Board, place: Place) -> str:
    boxes = "".join(LETTERS[box.colour].upper() for box in board.boxes if box.place == place)
    return boxes + "".join(LETTERS[target.colour] for target in board.targets if target.place == place)


def _corner(board: Board, place: Place) -> str:
    boxes = _letters(board, place)
    return "#" if len(boxes) > 1 else boxes or "+"

"""Draws boards of grid transportation as text."""

from __future__ import annotations

from llamac_env.transport.board import Board
from llamac_env.transport.grid import Place


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


def _letters(board: Board, place: Place) -> str:
    boxes = "".join(box.colour[0].upper() for box in board.boxes if box.place == place)
    return boxes + "".join(target.colour[0] for target in board.targets if target.place == place)


def _corner(board: Board, place: Place) -> str:
    boxes = _letters(board, place)
    return "#" if len(boxes) > 1 else boxes or "+"

"""Paints the drawing of a world as pixels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from quorum_base.drawing import PAPER, Canvas, Drawing
from quorum_base.painting.colours import EDGE, PAPER_WHITE
from quorum_base.painting.sprites import figure, tile

IMAGE_EDGE = 720
"""Longer edge of `board_image` in pixels, unless the board has too few or too many cells for it."""


class BoardPainter:
    """Paints drawings of one canvas.

    Args:
        canvas: the canvas of all drawings.
        cell: edge of a cell in pixels.
    """

    def __init__(self, canvas: Canvas, cell: int) -> None:
        self._canvas = canvas
        self._cell = cell
        tiles = [tile(kind, cell, ruled=canvas.ruled) for kind in (*canvas.kinds, None)]
        self._tiles = np.stack([np.asarray(image) for image in tiles])
        self._paper = len(canvas.kinds)
        self._margin = round(canvas.margin * cell)
        self.size = board_size(canvas, cell)
        """Width and height in pixels."""

    def paint(self, drawing: Drawing) -> Image.Image:
        """Paint a drawing, RGB."""
        width, height = self._canvas.width, self._canvas.height
        board = Image.new("RGB", self.size, PAPER_WHITE)
        inner = width * self._cell, height * self._cell
        ground = self._ground(drawing.ground) if drawing.image is None else Image.fromarray(drawing.image).resize(inner)
        board.paste(ground, (self._margin, self._margin))
        pen = ImageDraw.Draw(board)
        end = self._margin + inner[0], self._margin + inner[1]
        pen.rectangle([self._margin, self._margin, *end], outline=EDGE)
        for mark in drawing.marks.values():
            left, top = self._pixels(mark.x), self._pixels(mark.y)
            size = max(1, self._pixels(mark.x + mark.width) - left), max(1, self._pixels(mark.y + mark.height) - top)
            shown = figure(self._canvas.kinds[mark.kind], size, mark.label, mark.turn)
            board.paste(shown, (self._margin + left, self._margin + top), shown)
        return board

    def _pixels(self, cells: float) -> int:
        return round(cells * self._cell)

    def _ground(self, ground: bytes) -> Image.Image:
        """Lay the tiles; the result has shape `(height * cell, width * cell, 3)`."""
        width, height = self._canvas.width, self._canvas.height
        kinds = np.frombuffer(ground or bytes([PAPER]) * (width * height), dtype=np.uint8).reshape(height, width)
        laid = self._tiles[np.where(kinds == PAPER, self._paper, kinds)]
        return Image.fromarray(laid.transpose(0, 2, 1, 3, 4).reshape(height * self._cell, width * self._cell, 3))


def board_size(canvas: Canvas, cell: int) -> tuple[int, int]:
    """Return the width and height of a painted board in pixels: its cells, its margins and its last line."""
    margin = 2 * round(canvas.margin * cell) + 1
    return canvas.width * cell + margin, canvas.height * cell + margin


def board_image(canvas: Canvas, drawing: Drawing) -> npt.NDArray[np.uint8]:
    """Paint a board for a screen, uint8 `(height, width, 3)`, with cells of 4 to 48 pixels."""
    cell = max(4, min(48, IMAGE_EDGE // max(canvas.width, canvas.height)))
    return np.array(BoardPainter(canvas, cell).paint(drawing))

"""Paints an agent's observation: the board with numbered rows and columns on all four edges, and text below it."""

from __future__ import annotations

from io import BytesIO

from PIL import Image, ImageDraw

from quorum_base.drawing import Depiction
from quorum_base.painting.board import BoardPainter
from quorum_base.painting.colours import INK, PAPER_WHITE
from quorum_base.painting.scale import EDGE, LINE, MOST_LINES, NUMBER, Scale, scale_of
from quorum_base.painting.text import font

_TEXT = 16
"""Font size of the text below, in pixels."""
_STEPS = (1, 2, 5, 10, 20, 50)
"""Possible distances between numbers along an edge, in cells."""


def picture_size(shown: Depiction) -> tuple[int, int]:
    """Return the width and height of the picture of a depiction, in pixels.

    Raises:
        quorum_base.painting.scale.TooManyCells: the cells would be too small to read.
    """
    scale, _ = _laid_out(shown)
    return scale.width, scale.height


def paint(shown: Depiction) -> bytes:
    """Paint a depiction as PNG, with the size `picture_size`.

    Raises:
        quorum_base.painting.scale.TooManyCells: the cells would be too small to read.
    """
    scale, lines = _laid_out(shown)
    image = Image.new("RGB", (scale.width, scale.height), PAPER_WHITE)
    image.paste(BoardPainter(shown.canvas, scale.cell).paint(shown.drawing), (EDGE, EDGE))
    pen = ImageDraw.Draw(image)
    _number(pen, shown, scale.cell)
    for number, line in enumerate(lines, -len(lines)):
        pen.text((EDGE, scale.height + LINE * number), line, INK, font(_TEXT), anchor="la")
    file = BytesIO()
    image.save(file, "PNG", optimize=False)
    return file.getvalue()


def _number(pen: ImageDraw.ImageDraw, shown: Depiction, cell: int) -> None:
    """Write the numbers of columns and rows next to their cells, and the names of both axes in the corner."""
    face, middle = font(NUMBER), EDGE // 2
    columns, rows = shown.canvas.width, shown.canvas.height
    right, bottom = 2 * EDGE + columns * cell, 2 * EDGE + rows * cell
    widest = max(face.getlength(str(shown.left)), face.getlength(str(shown.left + columns - 1))) + 4
    for place in _numbered(shown.left, columns, widest, cell):
        x = EDGE + (place - shown.left + 0.5) * cell
        for offset in (middle + NUMBER // 3, bottom - middle):
            pen.text((x, offset), str(place), INK, face, anchor="mm")
    for place in _numbered(shown.top, rows, NUMBER, cell):
        y = EDGE + (place - shown.top + 0.5) * cell
        for offset in (middle, right - middle):
            pen.text((offset, y), str(place), INK, face, anchor="mm")
    pen.text((2, 1), f"{shown.down} ↓  {shown.across} →", INK, font(11), anchor="la")


def _numbered(first: int, cells: int, room: float, cell: int) -> list[int]:
    """Return the numbers to write along an edge: all of them, or as many as fit."""
    step = next((step for step in _STEPS if step * cell >= room), _STEPS[-1])
    return [place for place in range(first, first + cells) if place % step == 0]


def _laid_out(shown: Depiction) -> tuple[Scale, list[str]]:
    """Return the scale, and the text below broken into lines that fit its width."""
    columns, rows = shown.canvas.width, shown.canvas.height
    scale, lines = scale_of(columns, rows), list[str]()
    while True:  # more lines may force smaller cells, and so a narrower picture with shorter lines
        lines = [part for line in shown.lines for part in _broken(line, scale.width - 2 * EDGE)]
        if len(lines) > MOST_LINES:
            lines = [*lines[: MOST_LINES - 1], "..."]
        if (smaller := scale_of(columns, rows, len(lines))).cell == scale.cell:
            return smaller, lines
        scale = smaller


def _broken(line: str, width: float) -> list[str]:
    """Break a line between words."""
    face, found = font(_TEXT), [""]
    for word in line.split():
        longer = f"{found[-1]} {word}".lstrip()
        if found[-1] and face.getlength(longer) > width:
            found.append(word)
        else:
            found[-1] = longer
    return found

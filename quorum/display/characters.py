"""Renders a drawing as colored characters."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import groupby, zip_longest
from math import ceil

from rich.color import Color
from rich.style import Style
from rich.text import Text

from quorum_base.drawing import PAPER, Canvas, Drawing, Mark, MarkKind, Rotation, Shape
from quorum_base.painting.colours import INK, PAPER_WHITE, Colour, legible_on, parse

_POINTERS = {Rotation.RIGHT: "▶", Rotation.DOWN: "▼", Rotation.LEFT: "◀", Rotation.UP: "▲"}
_HALF = "▀"
_LARGEST = 10
"""Maximum rows of a cell of a small board."""
_PRESENT = 0.75
"""Share of a row, or of a cell smaller than a row, below which a mark is left out."""


def as_characters(canvas: Canvas, drawing: Drawing, columns: int, rows: int) -> Text:
    """Draw with characters, as large as fits.

    A cell is twice as many columns wide as rows high, so that it looks square. If there is no room for one row per
    cell, each character shows two places, one above the other, by color only. If the board is still too large, a place
    stands for several cells, but no agent is left out.

    Args:
        canvas: canvas of the world.
        drawing: drawing of the moment.
        columns: width of the terminal.
        rows: height of the terminal.
    """
    scale = min(rows // canvas.height, columns // (2 * canvas.width), _LARGEST)
    if scale:
        screen = _Screen(canvas, across=2 * scale, down=scale)
    else:
        shrunk = 1 / max(1, ceil(canvas.height / (2 * rows)), ceil(canvas.width / columns))
        screen = _Screen(canvas, across=shrunk, down=shrunk)
    screen.lay(drawing.ground)
    for mark in drawing.marks.values():
        if min(mark.width, mark.height) * max(1, scale) >= _PRESENT:
            screen.put(mark)
    return screen.text() if scale else screen.half_text()


class _Screen:
    """The characters of a picture with their colors, by row and column.

    Args:
        canvas: canvas of the world.
        across: columns of a cell.
        down: rows of a cell.
    """

    def __init__(self, canvas: Canvas, across: float, down: float) -> None:
        self._canvas = canvas
        self._across, self._down = across, down
        width, height = ceil(canvas.width * across), ceil(canvas.height * down)
        self._signs = [[" "] * width for _ in range(height)]
        self._inks: list[list[Colour]] = [[INK] * width for _ in range(height)]
        self._papers: list[list[Colour]] = [[PAPER_WHITE] * width for _ in range(height)]

    def lay(self, ground: bytes) -> None:
        """Fill the cells with their ground."""
        for place, number in enumerate(ground):
            if number != PAPER:
                row, column = divmod(place, self._canvas.width)
                kind = self._canvas.kinds[number]
                self._fill(kind, kind.sign, (column, row, column + 1, row + 1))

    def put(self, mark: Mark) -> None:
        """Draw a mark."""
        kind = self._canvas.kinds[mark.kind]
        box = (mark.x, mark.y, mark.x + mark.width, mark.y + mark.height)
        if kind.shape is Shape.WEDGE:
            self._point(kind, _POINTERS[mark.turn], box)
        else:
            self._fill(kind, mark.label, box)

    def _fill(self, kind: MarkKind, label: str, box: tuple[float, float, float, float]) -> None:
        """Fill a rectangle of cells with a kind; for a hollow kind, color only brackets and letters."""
        left, top, right, bottom = self._places(box)
        colour, hollow = parse(kind.light), kind.shape is Shape.RING
        for row in range(top, bottom):
            for column in range(left, right):
                self._signs[row][column] = " "
                self._papers[row][column] = PAPER_WHITE if hollow else colour
                self._inks[row][column] = colour if hollow else legible_on(colour)
        middle = (top + bottom - 1) // 2
        if hollow and right - left > 1:
            self._signs[middle][left], self._signs[middle][right - 1] = "[", "]"
        if len(label) <= right - left:
            start = left + (right - left - len(label)) // 2
            self._signs[middle][start : start + len(label)] = label

    def _point(self, kind: MarkKind, sign: str, box: tuple[float, float, float, float]) -> None:
        left, top, right, bottom = self._places(box)
        row, column = (top + bottom - 1) // 2, (left + right - 1) // 2
        self._signs[row][column] = sign
        self._inks[row][column] = parse(kind.light)

    def _places(self, box: tuple[float, float, float, float]) -> tuple[int, int, int, int]:
        left, top, right, bottom = box
        height, width = len(self._signs), len(self._signs[0])
        first_column = min(max(0, round(left * self._across)), width - 1)
        first_row = min(max(0, round(top * self._down)), height - 1)
        last_column = min(width, max(round(right * self._across), first_column + 1))
        last_row = min(height, max(round(bottom * self._down), first_row + 1))
        return first_column, first_row, last_column, last_row

    def text(self) -> Text:
        """Return the picture."""
        rows = zip(self._signs, self._inks, self._papers, strict=True)
        return Text("\n").join(_line(zip(*row, strict=True)) for row in rows)

    def half_text(self) -> Text:
        """Return the picture with two places per character."""
        blank = [PAPER_WHITE] * len(self._papers[0])
        pairs = zip_longest(self._papers[::2], self._papers[1::2], fillvalue=blank)
        rows = (((_HALF, upper, lower) for upper, lower in zip(*pair, strict=True)) for pair in pairs)
        return Text("\n").join(map(_line, rows))


def _line(places: Iterable[tuple[str, Colour, Colour]]) -> Text:
    """Format a line with as few segments as possible, one for each color."""
    line = Text(no_wrap=True)
    for (ink, paper), run in groupby(places, key=lambda place: place[1:]):
        line.append("".join(sign for sign, _, _ in run), _style(ink, paper))
    return line


@cache
def _style(ink: Colour, paper: Colour) -> Style:
    return Style(color=Color.from_rgb(*ink), bgcolor=Color.from_rgb(*paper))

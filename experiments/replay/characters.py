"""A drawing as coloured characters."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import groupby

from rich.color import Color
from rich.style import Style
from rich.text import Text

from experiments.replay.colours import INK, PAPER_WHITE, Colour, legible_on, parse
from maeil.drawing import PAPER, Canvas, Drawing, Kind, Mark, Shape, Turn

_POINTERS = {Turn.RIGHT: "▶", Turn.DOWN: "▼", Turn.LEFT: "◀", Turn.UP: "▲"}
_HALF = "▀"
_LARGEST = 6
"""Rows of a cell of a small board, at most."""
_PRESENT = 0.75
"""Share of a row, and of two columns, below which a mark is left out."""


def as_characters(canvas: Canvas, drawing: Drawing, columns: int, rows: int) -> Text:
    """Draw with characters, as large as fits.

    A cell takes twice as many columns as rows, so that it looks square. Where there is no room for a row a cell, a
    character shows two cells, one over the other, by their colours alone.

    Args:
        canvas: of the world.
        drawing: of the instant.
        columns: that there are.
        rows: that there are.
    """
    scale = min(rows // canvas.height, columns // (2 * canvas.width), _LARGEST)
    screen = _Screen(canvas, max(1, scale))
    screen.lay(drawing.ground)
    for mark in drawing.marks.values():
        screen.put(mark)
    return screen.text() if scale else screen.half_text()


class _Screen:
    """The characters of a picture, with their colours, by row and column."""

    def __init__(self, canvas: Canvas, scale: int) -> None:
        self._canvas = canvas
        self._scale = scale
        width, height = canvas.width * 2 * scale, canvas.height * scale
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
        """Draw a mark, unless it is too small for characters."""
        if min(mark.width, mark.height) * self._scale < _PRESENT:
            return
        kind = self._canvas.kinds[mark.kind]
        box = (mark.x, mark.y, mark.x + mark.width, mark.y + mark.height)
        if kind.shape is Shape.WEDGE:
            self._point(kind, _POINTERS[mark.turn], box)
        else:
            self._fill(kind, mark.label, box)

    def _fill(self, kind: Kind, label: str, box: tuple[float, float, float, float]) -> None:
        """Fill a rectangle of cells with a kind; a hollow kind gets its colour in brackets and letters alone."""
        left, top, right, bottom = self._places(box)
        colour, hollow = parse(kind.light), kind.shape is Shape.RING
        for row in range(top, bottom):
            for column in range(left, right):
                self._signs[row][column] = " "
                self._papers[row][column] = PAPER_WHITE if hollow else colour
                self._inks[row][column] = colour if hollow else legible_on(colour)
            if hollow and right - left > 1:
                self._signs[row][left], self._signs[row][right - 1] = "[", "]"
        if label and len(label) <= right - left and bottom > top:
            start = left + (right - left - len(label)) // 2
            self._signs[(top + bottom - 1) // 2][start : start + len(label)] = label

    def _point(self, kind: Kind, sign: str, box: tuple[float, float, float, float]) -> None:
        left, top, right, bottom = self._places(box)
        if left < right and top < bottom:
            row, column = (top + bottom - 1) // 2, (left + right - 1) // 2
            self._signs[row][column] = sign
            self._inks[row][column] = parse(kind.light)

    def _places(self, box: tuple[float, float, float, float]) -> tuple[int, int, int, int]:
        left, top, right, bottom = box
        height, width = len(self._signs), len(self._signs[0])
        across, down = 2 * self._scale, self._scale
        first_column, first_row = max(0, round(left * across)), max(0, round(top * down))
        last_column = min(width, max(round(right * across), first_column + 1))
        last_row = min(height, max(round(bottom * down), first_row + 1))
        return first_column, first_row, last_column, last_row

    def text(self) -> Text:
        """Give the picture."""
        lines = []
        for signs, inks, papers in zip(self._signs, self._inks, self._papers, strict=True):
            lines.append(_line(zip(signs, inks, papers, strict=True)))
        return Text("\n").join(lines)

    def half_text(self) -> Text:
        """Give the picture with two cells in a character."""
        blank = [PAPER_WHITE] * self._canvas.width
        rows = [papers[::2] for papers in self._papers]
        lines = []
        for number in range(0, len(rows), 2):
            lower = rows[number + 1] if number + 1 < len(rows) else blank
            lines.append(_line((_HALF, a, b) for a, b in zip(rows[number], lower, strict=True)))
        return Text("\n").join(lines)


def _line(places: Iterable[tuple[str, Colour, Colour]]) -> Text:
    """Write a line, as few pieces as it has colours."""
    line = Text(no_wrap=True)
    for (ink, paper), run in groupby(places, key=lambda place: place[1:]):
        line.append("".join(sign for sign, _, _ in run), _style(ink, paper))
    return line


@cache
def _style(ink: Colour, paper: Colour) -> Style:
    return Style(color=Color.from_rgb(*ink), bgcolor=Color.from_rgb(*paper))

"""The size of the picture of an agent's observation, in pixels. Needs no imaging library.

A picture of a typical board fits into 768 x 768. OpenAI scales larger pictures down until the shorter edge has 768
pixels (developers.openai.com/api/docs/guides/images-vision, "Calculating costs"). Anthropic scales down pictures with
an edge of more than 1,568 pixels or with more than about 1,600 tokens
(platform.claude.com/docs/en/build-with-claude/vision; both as of 2026-11-23). A board with more cells gets a larger
picture rather than smaller cells, up to an edge of 1,568 pixels.
"""

from __future__ import annotations

from dataclasses import dataclass

STYLE = 1
"""Version of the painting: increase it whenever the same drawing comes out differently."""
USUAL_EDGE = 768
"""Longer edge of a picture in pixels, unless the board has too few or too many cells for it."""
LONGEST_EDGE = 1568
"""Maximum edge of a picture in pixels."""
LARGEST_CELL, USUAL_LEAST_CELL, SMALLEST_CELL = 64, 16, 12
"""Edge of a cell in pixels: maximum; minimum while there is room; minimum that is still legible."""
LEAST_WIDTH = 640
"""Minimum width of a picture in pixels, so that the text below a narrow board has room."""
EDGE = 30
"""Border around the board in pixels, with the numbers of rows and columns."""
NUMBER = 13
"""Font size of the numbers in pixels."""
LINE = 24
"""Height of a line of the text below, in pixels."""
MOST_LINES = 16
"""Maximum number of lines below the board; longer text ends in an ellipsis."""


class TooManyCells(ValueError):
    """A board has so many cells that a picture of them would not be legible."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The size of a picture, in pixels.

    Attributes:
        cell: edge of a cell.
        width: width of the whole picture: the board with its numbers, and the text below it.
        height: height of the whole picture.
    """

    cell: int
    width: int
    height: int


def scale_of(columns: int, rows: int, lines: int = 0) -> Scale:
    """Choose the size of a picture.

    Args:
        columns: cells across.
        rows: cells down.
        lines: lines of text below.

    Raises:
        TooManyCells: a cell would have fewer than `SMALLEST_CELL` pixels.
    """
    fits = [_cell(edge, columns, rows, lines) for edge in (USUAL_EDGE, LONGEST_EDGE)]
    cell = min(max(fits[0], min(fits[1], USUAL_LEAST_CELL)), LARGEST_CELL)
    if cell < SMALLEST_CELL:
        most = (LONGEST_EDGE - 2 * EDGE) // SMALLEST_CELL
        raise TooManyCells(
            f"{columns} x {rows} cells cannot be read on a picture of at most {LONGEST_EDGE} pixels: "
            f"it has room for about {most} along an edge"
        )
    width = max(columns * cell + 1 + 2 * EDGE, LEAST_WIDTH)
    return Scale(cell, width, rows * cell + 1 + 2 * EDGE + lines * LINE)


def _cell(edge: int, columns: int, rows: int, lines: int) -> int:
    return min((edge - 1 - 2 * EDGE) // columns, (edge - 1 - 2 * EDGE - lines * LINE) // rows)

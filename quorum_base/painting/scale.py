"""How large the picture of what an agent observes is, in pixels: arithmetic alone, without an imaging library.

A picture of a usual board fits 768 x 768: OpenAI scales the shorter edge of larger ones down to that
(developers.openai.com/api/docs/guides/images-vision, "Calculating costs"), and Anthropic those with an edge of more
than 1,568 or about 1,600 tokens (platform.claude.com/docs/en/build-with-claude/vision; both as of 2026-11-23). A board
with more cells gets a larger picture rather than smaller cells, up to that edge.
"""

from __future__ import annotations

from dataclasses import dataclass

STYLE = 1
"""Counts the ways in which drawings have been painted: one more whenever the same one comes to look another way."""
USUAL_EDGE = 768
"""Pixels of the longer edge of a picture, unless the board has too few or too many cells for it."""
LONGEST_EDGE = 1568
"""Pixels of the longest edge that a picture may have."""
LARGEST_CELL, USUAL_LEAST_CELL, SMALLEST_CELL = 64, 16, 12
"""Pixels of a cell: at most; at least, while there is room; and below which nothing on it can be read."""
LEAST_WIDTH = 640
"""Pixels of a picture's width, at least, so that the words below a narrow board have room."""
EDGE = 30
"""Pixels around the board, in which its rows and columns are numbered."""
NUMBER = 13
"""Pixels of a figure of a number."""
LINE = 24
"""Pixels of a line of words below."""
MOST_LINES = 16
"""Lines of words below, at most: longer words end in an ellipsis."""


class TooManyCells(ValueError):
    """A board has so many cells that they cannot be read on a picture."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How large a part of a world is painted.

    Attributes:
        cell: pixels along an edge of a cell.
        width: of the board with its numbers, and of the words below it, in pixels.
        height: the same.
    """

    cell: int
    width: int
    height: int


def scale_of(columns: int, rows: int, lines: int = 0) -> Scale:
    """Choose the size of a picture.

    Args:
        columns: cells across.
        rows: cells down.
        lines: lines of words below.

    Raises:
        TooManyCells: a cell would have less than `SMALLEST_CELL` pixels.
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

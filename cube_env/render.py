"""The board as text and as an image; the image is plain NumPy."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from cube_env.layout import draw
from cube_env.state import Snapshot

Image = npt.NDArray[np.uint8]
Colour = tuple[int, int, int]

IMAGE_SIDE = 720
"""Pixels along an edge of an image whose cell size is not given, as far as whole cells allow."""
SMALLEST_CELL = 4
SMALLEST_RULED_CELL = 8
LARGEST_LABEL = 60

GROUND: Colour = (255, 255, 255)
GOAL: Colour = (214, 232, 214)
RULE: Colour = (226, 226, 226)
INK: Colour = (34, 34, 34)
PAPER: Colour = (255, 255, 255)
BLOCKS: tuple[Colour, ...] = (
    (230, 159, 0),
    (86, 180, 233),
    (0, 158, 115),
    (240, 228, 66),
    (0, 114, 178),
    (213, 94, 0),
    (204, 121, 167),
)
"""Okabe and Ito's palette (2008), which readers with any colour vision tell apart; black is left to the agents."""

GLYPH_HEIGHT, GLYPH_WIDTH = 5, 3
GLYPHS = {
    "0": "### #.# #.# #.# ###",
    "1": ".#. ##. .#. .#. ###",
    "2": "### ..# ### #.. ###",
    "3": "### ..# ### ..# ###",
    "4": "#.# #.# ### ..# ..#",
    "5": "### #.. ### ..# ###",
    "6": "### #.. ### #.# ###",
    "7": "### ..# ..# ..# ..#",
    "8": "### #.# ### #.# ###",
    "9": "### #.# ### ..# ###",
}

OVERSAMPLING = 8


def render_ansi(side: int, snapshot: Snapshot) -> str:
    """The board in the characters of `Layout`; see `cube_env.layout.draw` for boards with more than it can name."""
    return draw(side, snapshot.agents, [(block.id, block.weight, (block.row, block.col)) for block in snapshot.blocks])


def render_rgb(side: int, snapshot: Snapshot, cell_size: int | None = None) -> Image:
    """The board as an image.

    The goal column is tinted; a block is a square in the colour of its id with its weight in it; an agent is a disc
    with its index in it, where the cell has room for it.

    Args:
        side: Cells along each edge of the grid.
        snapshot: What stands where.
        cell_size: Pixels along an edge of a cell; by default what makes the image about 720 pixels wide.

    Returns:
        uint8, shape `(side * cell_size + 1, side * cell_size + 1, 3)`.
    """
    cell = cell_size if cell_size is not None else max(SMALLEST_CELL, IMAGE_SIDE // side)
    image = _empty_board(side, cell).copy()
    for block in snapshot.blocks:
        colour = BLOCKS[block.id % len(BLOCKS)]
        edge = block.weight * cell
        _square(image[block.row * cell :, block.col * cell :][: edge + 1, : edge + 1], colour, cell)
        _write(image, str(block.weight), _centre(block.row, block.weight, cell), _centre(block.col, block.weight, cell),
               room=min(0.5 * edge, LARGEST_LABEL), colour=_legible_on(colour))  # fmt: skip
    disc = _disc(cell)
    for i, (row, col) in enumerate(snapshot.agents):
        _blend(image[row * cell :, col * cell :][: cell + 1, : cell + 1], disc, INK)
        _write(image, str(i), _centre(row, 1, cell), _centre(col, 1, cell), room=0.62 * cell, colour=PAPER)
    return image


@lru_cache(maxsize=8)
def _empty_board(side: int, cell: int) -> Image:
    pixels = side * cell + 1
    image = np.full((pixels, pixels, 3), GROUND, dtype=np.uint8)
    image[:, (side - 1) * cell :] = GOAL
    if cell >= SMALLEST_RULED_CELL:
        image[::cell, :] = RULE
        image[:, ::cell] = RULE
    return image


def _square(area: Image, colour: Colour, cell: int) -> None:
    """Fill a block's pixels, with a darker rim that keeps touching blocks apart."""
    rim = max(1, cell // 14)
    area[...] = tuple(channel * 5 // 8 for channel in colour)
    area[rim:-rim, rim:-rim] = colour


@lru_cache(maxsize=8)
def _disc(cell: int) -> npt.NDArray[np.float64]:
    """Share of each pixel of a cell that an agent's disc covers, shape `(cell + 1, cell + 1)`."""
    pixels = cell + 1
    points = (np.arange(pixels * OVERSAMPLING) + 0.5) / OVERSAMPLING - pixels / 2
    inside = points[:, None] ** 2 + points[None, :] ** 2 <= (0.42 * cell) ** 2
    covered = inside.reshape(pixels, OVERSAMPLING, pixels, OVERSAMPLING).mean(axis=(1, 3))
    return np.asarray(covered, dtype=np.float64)


def _blend(area: Image, cover: npt.NDArray[np.float64], colour: Colour) -> None:
    area[...] = np.rint(area * (1 - cover[:, :, None]) + np.array(colour) * cover[:, :, None]).astype(np.uint8)


def _centre(first: int, cells: int, cell: int) -> float:
    """Middle of a run of cells in pixels."""
    return first * cell + (cells * cell + 1) / 2


def _write(image: Image, digits: str, row: float, col: float, *, room: float, colour: Colour) -> None:
    """Write digits around a point, as large as whole pixels and the room allow; nothing where they do not fit."""
    glyphs = _glyphs(digits)
    height, width = glyphs.shape
    scale = min(int(room // height), int(1.25 * room // width))
    if scale < 1:
        return
    mask = glyphs.repeat(scale, axis=0).repeat(scale, axis=1)
    top, left = round(row - scale * height / 2), round(col - scale * width / 2)
    image[top:, left:][: scale * height, : scale * width][mask] = colour


@lru_cache(maxsize=1024)
def _glyphs(digits: str) -> npt.NDArray[np.bool_]:
    """The pixels of a number, shape (5, 4 * digits - 1)."""
    pixels = np.zeros((GLYPH_HEIGHT, (GLYPH_WIDTH + 1) * len(digits) - 1), dtype=np.bool_)
    for position, digit in enumerate(digits):
        glyph = [[mark == "#" for mark in line] for line in GLYPHS[digit].split()]
        left = position * (GLYPH_WIDTH + 1)
        pixels[:, left : left + GLYPH_WIDTH] = glyph
    return pixels


def _legible_on(colour: Colour) -> Colour:
    red, green, blue = colour
    return INK if 299 * red + 587 * green + 114 * blue > 128_000 else PAPER

"""The board as text and as an image; the image is plain NumPy."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from cube_env.constants import DISPLACEMENT, Action, Cell, PushOutcome
from cube_env.glyphs import Mask, fitting_height, number_mask
from cube_env.layout import draw
from cube_env.report import Push
from cube_env.state import Snapshot
from maeil.environments.errors import WorldError

Image = npt.NDArray[np.uint8]
Colour = tuple[int, int, int]

IMAGE_SIDE = 720
"""Pixels along an edge of an image whose cell size is not given, as far as whole cells allow."""
SMALLEST_CELL = 4
SMALLEST_RULED_CELL = 8
LARGEST_LABEL = 60

GROUND: Colour = (255, 255, 255)
GOAL: Colour = (214, 232, 214)
GOAL_RULE: Colour = (158, 196, 158)
RULE: Colour = (228, 228, 228)
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

ARROW_LENGTH, ARROW_HALF_WIDTH, ARROW_LINE = 0.34, 0.3, 0.05
"""Shares of a cell."""

OVERSAMPLING = 8
"""Sampling points along a pixel's edge."""


def render_ansi(side: int, snapshot: Snapshot) -> str:
    """The board in the characters of `Layout`; see `cube_env.layout.draw` for boards with more than it can name."""
    return draw(side, snapshot.agents, [(block.id, block.weight, (block.row, block.col)) for block in snapshot.blocks])


def render_rgb(side: int, snapshot: Snapshot, cell_size: int | None = None, pushes: Iterable[Push] = ()) -> Image:
    """The board as an image.

    The goal column is tinted; a block is a square in the colour of its id with its weight in it; an agent is a disc
    with its index in it, where the cell has room for it. An arrow stands before the head of each line that pushed:
    full when the block moved, hollow with a bar when the push failed.

    Args:
        side: Cells along each edge of the grid.
        snapshot: What stands where.
        cell_size: Pixels along an edge of a cell; by default what makes the image about 720 pixels wide.
        pushes: Push attempts of the step that led to the snapshot.

    Returns:
        uint8, shape `(side * cell_size + 1, side * cell_size + 1, 3)`.

    Raises:
        WorldError: `cell_size` is below 1.
    """
    if cell_size is not None and cell_size < 1:
        raise WorldError(f"cell_size = {cell_size}: a cell has at least 1 pixel")
    cell = cell_size if cell_size is not None else max(SMALLEST_CELL, IMAGE_SIDE // side)
    image = _empty_board(side, cell).copy()
    for block in snapshot.blocks:
        colour = BLOCKS[block.id % len(BLOCKS)]
        edge = block.weight * cell
        _square(image[block.row * cell :, block.col * cell :][: edge + 1, : edge + 1], colour, cell)
        _write(image, str(block.weight), _centre(block.row, block.weight, cell), _centre(block.col, block.weight, cell),
               height=min(0.46 * edge, LARGEST_LABEL), width=0.7 * edge, colour=_legible_on(colour))  # fmt: skip
    disc = _disc(cell)
    for i, (row, col) in enumerate(snapshot.agents):
        _blend(_cell_area(image, row, col, cell), disc, INK)
        _write(image, str(i), _centre(row, 1, cell), _centre(col, 1, cell),
               height=0.46 * cell, width=0.66 * cell, colour=PAPER)  # fmt: skip
    for push in pushes:
        failed = push.outcome not in (PushOutcome.moved, PushOutcome.delivered)
        shape, filling = _arrow(cell, push.direction, failed)
        for row, col in _before_heads(snapshot, push):
            area = _cell_area(image, row, col, cell)
            _blend(area, shape, INK)
            _blend(area, filling, PAPER)
    return image


def _before_heads(snapshot: Snapshot, push: Push) -> list[Cell]:
    """The cells before the first agent of each line of a push."""
    row_step, col_step = DISPLACEMENT[push.direction]
    members = {snapshot.agents[agent] for agent in push.agents}
    ahead = [(row + row_step, col + col_step) for row, col in sorted(members)]
    return [cell for cell in ahead if cell not in members]


def _cell_area(image: Image, row: int, col: int, cell: int) -> Image:
    return image[row * cell :, col * cell :][: cell + 1, : cell + 1]


@lru_cache(maxsize=8)
def _empty_board(side: int, cell: int) -> Image:
    pixels = side * cell + 1
    image = np.full((pixels, pixels, 3), GROUND, dtype=np.uint8)
    image[:, (side - 1) * cell :] = GOAL
    if cell >= SMALLEST_RULED_CELL:
        image[::cell, :] = RULE
        image[:, ::cell] = RULE
        image[::cell, (side - 1) * cell :] = GOAL_RULE
        image[:, -1] = GOAL_RULE
    image[:, (side - 1) * cell] = GOAL_RULE
    return image


def _square(area: Image, colour: Colour, cell: int) -> None:
    """Fill a block's pixels, with a darker rim that keeps touching blocks apart and a hint of its cells."""
    rim = max(1, round(cell / 14))
    area[...] = tuple(channel * 5 // 8 for channel in colour)
    area[rim:-rim, rim:-rim] = colour
    if cell >= SMALLEST_RULED_CELL:
        hint = tuple(channel * 15 // 16 for channel in colour)
        area[cell:-cell:cell, rim:-rim] = hint
        area[rim:-rim, cell:-cell:cell] = hint


@lru_cache(maxsize=8)
def _disc(cell: int) -> Mask:
    """Share of each pixel of a cell that an agent's disc covers, shape `(cell + 1, cell + 1)`."""
    x, y = _points(cell)
    return _covered((x - 0.5) ** 2 + (y - 0.5) ** 2 <= 0.42**2, cell)


@lru_cache(maxsize=64)
def _arrow(cell: int, direction: Action, failed: bool) -> tuple[Mask, Mask]:
    """What an arrow covers of the cell that it points into, and of that what is left white.

    It is drawn pointing right and turned.
    """
    x, y = _points(cell)
    off_axis = np.abs(y - 0.5)
    length = max(ARROW_LENGTH, 3 / cell)
    line = max(ARROW_LINE, 0.8 / cell)

    def triangle(shrink: float) -> npt.NDArray[np.bool_]:
        return (x >= shrink) & (off_axis <= (length - 2 * shrink - x) * ARROW_HALF_WIDTH / length)

    shape, filling = triangle(0), triangle(line)
    if failed:
        shape |= (x >= length) & (x <= length + line) & (off_axis <= ARROW_HALF_WIDTH)
    else:
        filling &= False
    turns = {Action.RIGHT: 0, Action.UP: 1, Action.LEFT: 2, Action.DOWN: 3}[direction]
    return np.rot90(_covered(shape, cell), turns), np.rot90(_covered(filling, cell), turns)


def _points(cell: int) -> tuple[Mask, Mask]:
    """Sampling points of a cell's pixels as shares of its edge: x and y, each of shape `((cell + 1) * 8,) * 2`."""
    along = ((np.arange((cell + 1) * OVERSAMPLING) + 0.5) / OVERSAMPLING - 0.5) / cell
    return along[None, :], along[:, None]


def _covered(inside: npt.NDArray[np.bool_], cell: int) -> Mask:
    pixels = cell + 1
    shares = inside.reshape(pixels, OVERSAMPLING, pixels, OVERSAMPLING).mean(axis=(1, 3))
    return np.asarray(shares, dtype=np.float64)


def _blend(area: Image, cover: Mask, colour: Colour) -> None:
    area[...] = np.rint(area * (1 - cover[:, :, None]) + np.array(colour) * cover[:, :, None]).astype(np.uint8)


def _centre(first: int, cells: int, cell: int) -> float:
    """Middle of a run of cells in pixels."""
    return first * cell + (cells * cell + 1) / 2


def _write(image: Image, number: str, row: float, col: float, *, height: float, width: float, colour: Colour) -> None:
    """Write a number around a point, as large as a box allows; nothing where it would not be legible."""
    fitting = fitting_height(number, height, width)
    if fitting:
        mask = number_mask(number, fitting)
        rows, columns = mask.shape
        top, left = round(row - rows / 2), round(col - columns / 2)
        _blend(image[top : top + rows, left : left + columns], mask, colour)


def _legible_on(colour: Colour) -> Colour:
    red, green, blue = colour
    return INK if 299 * red + 587 * green + 114 * blue > 128_000 else PAPER

"""The board as text and as an image, also its digits; the image is plain NumPy."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from math import cos, pi, sin

import numpy as np
import numpy.typing as npt

from cube_env.constants import DISPLACEMENT, Action, Cell, PushOutcome
from cube_env.layout import draw
from cube_env.state import Push, Snapshot
from maeil.environments.errors import WorldError

Mask = npt.NDArray[np.float64]
"""Share of each pixel that is covered, 0 to 1."""
Point = tuple[float, float]
Stroke = list[Point]
"""Points `(x, y)` joined by straight lines, in units of a digit's height; y goes down."""

SMALLEST_HEIGHT = 5
"""Pixels below which no number is legible."""
SMALLEST_SMOOTH_HEIGHT = 9
WIDTH, GAP, THICKNESS = 0.56, 0.26, 0.15
"""Of a digit, between two digits and of a stroke, in units of a digit's height."""
ARC_STEPS = 14

PIXELS = {
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


def number_mask(number: str, height: int) -> Mask:
    """A number of this height.

    Args:
        number: Digits.
        height: In pixels, at least `SMALLEST_HEIGHT`.

    Returns:
        Shape (rows, columns), rows at most `height`; shared, do not write to it.
    """
    return _smooth(number, height) if height >= SMALLEST_SMOOTH_HEIGHT else _pixels(number)


def fitting_height(number: str, height: float, width: float) -> int:
    """The largest height of a number within a box, in pixels; 0 where it would not be legible."""
    digits = len(number)
    found = int(min(height, width / (digits * WIDTH + (digits - 1) * GAP + THICKNESS)))
    if found >= SMALLEST_SMOOTH_HEIGHT:
        return found
    return SMALLEST_HEIGHT if height >= SMALLEST_HEIGHT and width >= 4 * digits - 1 else 0


def _arc(  # noqa: PLR0917 (centre, radii and angles)
    x: float, y: float, x_radius: float, y_radius: float, start: float, end: float
) -> Stroke:
    """Part of an ellipse about (x, y); degrees from the right, clockwise on the screen."""
    angles = [pi / 180 * (start + (end - start) * step / ARC_STEPS) for step in range(ARC_STEPS + 1)]
    return [(x + x_radius * cos(angle), y + y_radius * sin(angle)) for angle in angles]


def _turned(strokes: list[Stroke]) -> list[Stroke]:
    return [[(WIDTH - x, 1 - y) for x, y in stroke] for stroke in strokes]


_SIX: list[Stroke] = [
    _arc(0.28, 0.67, 0.28, 0.33, 0, 360),
    [(0.0, 0.67), *_arc(0.42, 0.56, 0.42, 0.56, 188, 268)],
]
STROKES: dict[str, list[Stroke]] = {
    "0": [_arc(0.28, 0.5, 0.28, 0.5, 0, 360)],
    "1": [[(0.08, 0.22), (0.32, 0.0), (0.32, 1.0)]],
    "2": [[*_arc(0.28, 0.28, 0.27, 0.28, 190, 395), (0.0, 1.0), (0.56, 1.0)]],
    "3": [
        _arc(0.27, 0.26, 0.25, 0.26, 205, 450),
        _arc(0.27, 0.74, 0.29, 0.26, 270, 515),
    ],
    "4": [[(0.43, 1.0), (0.43, 0.0), (0.0, 0.7), (0.58, 0.7)]],
    "5": [[(0.5, 0.0), (0.1, 0.0), (0.05, 0.46), *_arc(0.27, 0.68, 0.29, 0.32, 225, 510)]],
    "6": _SIX,
    "7": [[(0.0, 0.0), (0.56, 0.0), (0.2, 1.0)]],
    "8": [_arc(0.28, 0.25, 0.24, 0.25, 0, 360), _arc(0.28, 0.75, 0.28, 0.25, 0, 360)],
    "9": _turned(_SIX),
}


@lru_cache(maxsize=2048)
def _smooth(number: str, height: int) -> Mask:
    """Strokes with round ends: a pixel is covered by how far its centre lies inside."""
    thickness = max(THICKNESS * height, 1.2)
    scale = height - thickness
    columns = round(scale * (len(number) * WIDTH + (len(number) - 1) * GAP) + thickness) + 1
    y, x = np.mgrid[:height, :columns] + 0.5
    distance = np.full((height, columns), np.inf)
    for position, digit in enumerate(number):
        left = thickness / 2 + position * (WIDTH + GAP) * scale
        for stroke in STROKES[digit]:
            points = [(left + px * scale, thickness / 2 + py * scale) for px, py in stroke]
            for start, end in pairwise(points):
                np.minimum(distance, _distance(x, y, start, end), out=distance)
    return np.clip(thickness / 2 - distance + 0.5, 0, 1)


def _distance(x: Mask, y: Mask, start: Point, end: Point) -> Mask:
    """Distance of points from a line segment."""
    along_x, along_y = end[0] - start[0], end[1] - start[1]
    length = along_x**2 + along_y**2
    share = np.clip(((x - start[0]) * along_x + (y - start[1]) * along_y) / length, 0, 1) if length else 0.0
    return np.asarray(np.hypot(x - start[0] - share * along_x, y - start[1] - share * along_y), dtype=np.float64)


@lru_cache(maxsize=2048)
def _pixels(number: str) -> Mask:
    lines = [".".join(glyph) for glyph in zip(*(PIXELS[digit].split() for digit in number), strict=True)]
    return np.array([[mark == "#" for mark in line] for line in lines], dtype=np.float64)


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

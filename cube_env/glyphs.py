"""Numbers as coverage masks at any height: smooth strokes, and hand-set pixels where strokes would blur."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from math import cos, pi, sin

import numpy as np
import numpy.typing as npt

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

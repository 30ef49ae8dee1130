"""Where actions lead, as shapes after `maeil.drawing`."""

from __future__ import annotations

from collections.abc import Sequence

from cube_env.constants import Cell
from cube_env.symbolic.episode_state import EpisodeState
from maeil.drawing import Way

Rectangle = tuple[float, float, float, float]


def way_over(start: Cell, cells: Sequence[Cell], target: Rectangle | None = None) -> Way:
    """Return the way from a cell over others; its target is the last of them unless there is another one."""
    points = tuple((col + 0.5, row + 0.5) for row, col in (start, *cells))
    row, col = cells[-1] if cells else start
    return Way(points, target or (col, row, 1, 1))


def square_of(episode: EpisodeState, block: int) -> Rectangle:
    """Return where a block lies."""
    row, col, weight, _ = episode.blocks[block]
    return col, row, weight, weight

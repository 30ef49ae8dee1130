"""What the rule-based minds for CUBE share: how far a block is."""

from __future__ import annotations

from cube_env import SymbolicBlock


def way(cell: tuple[int, int], block: SymbolicBlock) -> int:
    """Manhattan distance from a cell to the nearest cell of a block's left face."""
    row, col = cell
    nearest = min(max(row, block.row), block.row + block.weight - 1)
    return abs(row - nearest) + abs(col - (block.col - 1))

"""The multi-channel observation, written from the occupancy grid as a whole.

Within a step the kernel of the dynamics keeps it up to date cell by cell.
"""

from __future__ import annotations

from cube_env.arrays import (
    AGENT_MASK,
    AGENT_NUMBER,
    BLOCK_NUMBER,
    BLOCK_WEIGHT,
    GOAL_MASK,
    WEIGHT,
    ChannelArray,
    IntArray,
)
from cube_env.jit import compiled


@compiled
def paint(blocks: IntArray, grid: IntArray, channels: ChannelArray) -> None:
    """Write every channel of the observation from the occupancy grid."""
    side = grid.shape[0]
    for row in range(side):
        for col in range(side):
            _paint_cell(blocks, grid, channels, row, col)
            channels[row, col, GOAL_MASK] = 1.0 if col == side - 1 else 0.0


@compiled
def repaint(blocks: IntArray, grid: IntArray, new_blocks: IntArray, new_grid: IntArray, channels: ChannelArray) -> None:
    """Turn the channels of one world into those of another of the same size, touching the cells that differ."""
    side = grid.shape[0]
    for block in range(blocks.shape[0]):
        if blocks[block, WEIGHT] != new_blocks[block, WEIGHT]:
            paint(new_blocks, new_grid, channels)
            return
    for row in range(side):
        for col in range(side):
            if new_grid[row, col] != grid[row, col]:
                _paint_cell(new_blocks, new_grid, channels, row, col)


@compiled
def _paint_cell(blocks: IntArray, grid: IntArray, channels: ChannelArray, row: int, col: int) -> None:
    entity = grid[row, col]
    channels[row, col, AGENT_MASK] = 1.0 if entity > 0 else 0.0
    channels[row, col, AGENT_NUMBER] = entity if entity > 0 else 0.0
    channels[row, col, BLOCK_WEIGHT] = blocks[-entity - 1, WEIGHT] if entity < 0 else 0.0
    channels[row, col, BLOCK_NUMBER] = -entity if entity < 0 else 0.0

"""The occupancy grid and the multi-channel observation, each written as a whole.

Within a step the kernel of the dynamics keeps them up to date cell by cell.
"""

from __future__ import annotations

from cube_env.arrays import (
    AGENT_MASK,
    AGENT_NUMBER,
    ALIVE,
    BLOCK_NUMBER,
    BLOCK_WEIGHT,
    COL,
    GOAL_MASK,
    ROW,
    WEIGHT,
    ChannelArray,
    IntArray,
)
from cube_env.jit import compiled_borrowing


@compiled_borrowing
def occupy(agents: IntArray, blocks: IntArray, grid: IntArray) -> None:
    """Write the occupancy grid from the agents and the blocks that are there."""
    grid[:] = 0
    for b in range(blocks.shape[0]):
        if blocks[b, ALIVE]:
            row, col, weight = blocks[b, ROW], blocks[b, COL], blocks[b, WEIGHT]
            grid[row : row + weight, col : col + weight] = -(b + 1)
    for i in range(agents.shape[0]):
        grid[agents[i, ROW], agents[i, COL]] = i + 1


@compiled_borrowing
def paint(blocks: IntArray, grid: IntArray, channels: ChannelArray) -> None:
    """Write every channel of the observation from the occupancy grid."""
    side = grid.shape[0]
    for row in range(side):
        for col in range(side):
            _paint_cell(blocks, grid, channels, row, col)
            channels[row, col, GOAL_MASK] = 1.0 if col == side - 1 else 0.0


@compiled_borrowing
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


@compiled_borrowing
def _paint_cell(blocks: IntArray, grid: IntArray, channels: ChannelArray, row: int, col: int) -> None:
    entity = grid[row, col]
    channels[row, col, AGENT_MASK] = 1.0 if entity > 0 else 0.0
    channels[row, col, AGENT_NUMBER] = entity if entity > 0 else 0.0
    channels[row, col, BLOCK_WEIGHT] = blocks[-entity - 1, WEIGHT] if entity < 0 else 0.0
    channels[row, col, BLOCK_NUMBER] = -entity if entity < 0 else 0.0

"""The arrays of one world: their shapes, their columns and their types.

n agents, B blocks, a grid of side K.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int32]
CounterArray = npt.NDArray[np.int64]
ActionArray = npt.NDArray[np.int64]
ChannelArray = npt.NDArray[np.float32]
RewardArray = npt.NDArray[np.float64]
FlagArray = npt.NDArray[np.bool_]

CHANNELS = 5
AGENT_MASK, BLOCK_WEIGHT, GOAL_MASK, AGENT_NUMBER, BLOCK_NUMBER = range(CHANNELS)

ROW, COL, WEIGHT, ALIVE = range(4)

COUNTERS = 5
COUNT_STEP, COUNT_LIVE, COUNT_DELIVERED_WEIGHT, COUNT_ATTEMPTS, COUNT_FAILED_MOVES = range(COUNTERS)

ATTEMPT_COLUMNS = 5

AGENT_COLUMNS = 3
AGENT_ATTEMPT, AGENT_FAILURE, AGENT_MOVED = range(AGENT_COLUMNS)

BLOCK_COLUMNS = 4
BLOCK_STATUS, BLOCK_CHAIN, BLOCK_CHAIN_OF, BLOCK_FACED = range(BLOCK_COLUMNS)

BLOCK_STILL, BLOCK_DISPLACED, BLOCK_DELIVERED = range(3)


class World(NamedTuple):
    """The arrays that one step of one world reads and writes; all of them C-contiguous."""

    agents: IntArray
    """(n, 2): row, col."""
    blocks: IntArray
    """(B, 4): row and col of the top-left cell, weight, 1 while on the board. A delivered block keeps its last cell."""
    grid: IntArray
    """(K, K): 0 free, i + 1 agent i, -(b + 1) block b."""
    channels: ChannelArray
    """(K, K, 5): the multi-channel observation; (0, 0, 5) if not kept."""
    counters: CounterArray
    """(5,): steps taken, blocks left; then for the last step: weight delivered, push attempts, failed moves."""
    attempts: IntArray
    """(n, 5): block, direction, force, required force and outcome of each push attempt of the last step."""
    agent_report: IntArray
    """(n, 3): attempt or -1, `MoveFailure` or -1, and 1 if it moved, of each agent in the last step."""
    block_report: IntArray
    """(B, 4): still, displaced or delivered, for each block in the last step; then three scratch columns: the ids of
    the current chain, the attempt whose chain each block joined, and the last direction in which an agent on one of its
    face cells acts into it."""

"""The board as arrays: the occupancy grid, the channels, the action masks, and the views of single agents."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cube_env import arrays
from cube_env.arrays import ChannelArray, IntArray, World
from cube_env.constants import Action
from cube_env.jit import compiled_borrowing


@compiled_borrowing
def occupy(agents: IntArray, blocks: IntArray, grid: IntArray) -> None:
    """Write the occupancy grid from the agents and the blocks on the board."""
    grid[:] = 0
    # Agents are written last; no agent shares a cell with a block, so the order matters only for invalid boards.
    for b in range(blocks.shape[0]):
        if blocks[b, arrays.ALIVE]:
            row, col, weight = blocks[b, arrays.ROW], blocks[b, arrays.COL], blocks[b, arrays.WEIGHT]
            grid[row : row + weight, col : col + weight] = -(b + 1)
    for i in range(agents.shape[0]):
        grid[agents[i, arrays.ROW], agents[i, arrays.COL]] = i + 1


@compiled_borrowing
def paint(blocks: IntArray, grid: IntArray, channels: ChannelArray) -> None:
    """Write every channel of the observation from the occupancy grid."""
    side = grid.shape[0]
    for row in range(side):
        for col in range(side):
            entity = grid[row, col]
            channels[row, col, arrays.AGENT_MASK] = 1.0 if entity > 0 else 0.0
            channels[row, col, arrays.AGENT_NUMBER] = entity if entity > 0 else 0.0
            channels[row, col, arrays.BLOCK_WEIGHT] = blocks[-entity - 1, arrays.WEIGHT] if entity < 0 else 0.0
            channels[row, col, arrays.BLOCK_NUMBER] = -entity if entity < 0 else 0.0
            channels[row, col, arrays.GOAL_MASK] = 1.0 if col == side - 1 else 0.0


MaskArray = npt.NDArray[np.int8]

_ACTIONS = len(Action)
_STAY, _UP, _DOWN, _LEFT, _RIGHT = (int(action) for action in Action)


def action_masks(world: World) -> MaskArray:
    """Return 1 for actions that may matter, 0 for those that equal STAY whatever the other agents do.

    The masked actions are a step off the grid and a step into a block heavier than the whole team, which never moves.
    All others may matter, because a push can move an agent or a block out of the way within the step.

    Args:
        world: One world, or a batch of them with a leading dimension.

    Returns:
        Shape (n, 5) or (W, n, 5), int8; a copy.
    """
    masks = np.empty((*world.agents.shape[:-1], _ACTIONS), dtype=np.int8)
    if world.agents.ndim == 2:
        _mask(world.agents, world.blocks, world.grid, masks)
    else:
        _mask_worlds(world.agents, world.blocks, world.grid, masks)
    return masks


@compiled_borrowing
def _mask(agents: IntArray, blocks: IntArray, grid: IntArray, masks: MaskArray) -> None:
    n, side = agents.shape[0], grid.shape[0]
    for i in range(n):
        masks[i, _STAY] = 1
        for action in range(_UP, _RIGHT + 1):
            row = agents[i, arrays.ROW] + (action == _DOWN) - (action == _UP)
            col = agents[i, arrays.COL] + (action == _RIGHT) - (action == _LEFT)
            inside = 0 <= row < side and 0 <= col < side
            masks[i, action] = inside and not (grid[row, col] < 0 and blocks[-grid[row, col] - 1, arrays.WEIGHT] > n)


@compiled_borrowing
def _mask_worlds(agents: IntArray, blocks: IntArray, grid: IntArray, masks: MaskArray) -> None:
    for w in range(agents.shape[0]):
        _mask(agents[w], blocks[w], grid[w], masks[w])


OWN_FEATURES, OTHER_FEATURES, BLOCK_FEATURES = 3, 2, 5
_OUTSIDE = arrays.CHANNELS
WINDOW_CHANNELS = arrays.CHANNELS + 1
"""The channels of `CubeEnv`, plus one that is 1 outside the grid."""

_BLOCK_STATE = 4


def flat_size(n: int, blocks: int) -> int:
    """Length of an agent's flat vector."""
    return OWN_FEATURES + OTHER_FEATURES * (n - 1) + BLOCK_FEATURES * blocks


def flat_observations(world: World, max_steps: int) -> npt.NDArray[np.float32]:
    """Return a flat vector for each agent, float32 (n, F) in [-1, 1]; F is `flat_size(n, B)`.

    The vector holds, in order:

    - the share of the steps taken, and the agent's own row and column as shares of the grid's last;
    - for each other agent, starting at the next index and wrapping around: its row and column offsets;
    - for each block by id: 1 while on the board, its weight, the row and column offsets of its centre, and the columns
      it must still move, all as shares of the side; 0 if it is delivered.
    """
    agents, blocks = world.agents.astype(np.float32), world.blocks.astype(np.float32)
    n, side = agents.shape[-2], world.grid.shape[-1]
    lead = agents.shape[:-2]
    time = np.broadcast_to(_time(world, max_steps)[..., None, None], (*lead, n, 1))
    others = (np.arange(n)[:, None] + np.arange(1, n)) % n
    away = (agents[..., others, :] - agents[..., :, None, :]) / side
    alive, weight = blocks[..., arrays.ALIVE], blocks[..., arrays.WEIGHT]
    centre = blocks[..., : arrays.COL + 1] + (weight[..., None] - 1) / 2
    to_block = (centre[..., None, :, :] - agents[..., :, None, :]) / side
    own = np.stack([alive, weight / side, (side - blocks[..., arrays.COL] - weight) / side], axis=-1)
    own = np.broadcast_to(own[..., None, :, :], (*to_block.shape[:-1], own.shape[-1]))
    seen = np.concatenate([own[..., :2], to_block, own[..., 2:]], axis=-1) * alive[..., None, :, None]
    parts = [time, agents / (side - 1), away.reshape(*lead, n, -1), seen.reshape(*lead, n, -1)]
    return np.concatenate(parts, axis=-1, dtype=np.float32)


def flat_state_size(n: int, blocks: int) -> int:
    """Length of the flat vector of a whole state."""
    return 1 + 2 * n + _BLOCK_STATE * blocks


def flat_state(world: World, max_steps: int) -> npt.NDArray[np.float32]:
    """Return the whole state as a flat vector for a central critic, float32 (S,) in [0, 1].

    S is `flat_state_size(n, B)`. The vector holds the share of the steps taken; row and column of each agent by index;
    and for each block by id 1 while on the board, its weight, row and column, as shares of the side, and 0 if it is
    delivered.
    """
    lead, side = world.agents.shape[:-2], world.grid.shape[-1]
    alive = world.blocks[..., arrays.ALIVE, None].astype(np.float32)
    blocks = np.concatenate([alive, alive * world.blocks[..., [arrays.WEIGHT, arrays.ROW, arrays.COL]] / side], axis=-1)
    agents = world.agents / (side - 1)
    parts = [_time(world, max_steps)[..., None], agents.reshape(*lead, -1), blocks.reshape(*lead, -1)]
    return np.concatenate(parts, axis=-1, dtype=np.float32)


def egocentric_observations(world: World, radius: int) -> ChannelArray:
    """Return a window around each agent, float32 (n, 2 radius + 1, 2 radius + 1, 6).

    The agent is in the middle. The channels are the five of `CubeEnv` plus one that is 1 outside the grid.
    """
    width = 2 * radius + 1
    windows = np.zeros((*world.agents.shape[:-1], width, width, WINDOW_CHANNELS), dtype=np.float32)
    if world.agents.ndim == 2:
        _look_around(world.agents, world.blocks, world.grid, windows)
    else:
        _look_around_worlds(world.agents, world.blocks, world.grid, windows)
    return windows


def _time(world: World, max_steps: int) -> npt.NDArray[np.float64]:
    """Share of the steps taken, shape () or (W,)."""
    return np.asarray(np.minimum(world.counters[..., arrays.COUNT_STEP] / max_steps, 1.0))


@compiled_borrowing
def _look_around(agents: IntArray, blocks: IntArray, grid: IntArray, windows: ChannelArray) -> None:
    side, width = grid.shape[0], windows.shape[1]
    radius = width // 2
    for i in range(agents.shape[0]):
        for r in range(width):
            for c in range(width):
                row, col = agents[i, arrays.ROW] + r - radius, agents[i, arrays.COL] + c - radius
                if not (0 <= row < side and 0 <= col < side):
                    windows[i, r, c, _OUTSIDE] = 1.0
                    continue
                entity = grid[row, col]
                if entity > 0:
                    windows[i, r, c, arrays.AGENT_MASK] = 1.0
                    windows[i, r, c, arrays.AGENT_NUMBER] = entity
                elif entity < 0:
                    windows[i, r, c, arrays.BLOCK_WEIGHT] = blocks[-entity - 1, arrays.WEIGHT]
                    windows[i, r, c, arrays.BLOCK_NUMBER] = -entity
                if col == side - 1:
                    windows[i, r, c, arrays.GOAL_MASK] = 1.0


@compiled_borrowing
def _look_around_worlds(agents: IntArray, blocks: IntArray, grid: IntArray, windows: ChannelArray) -> None:
    for w in range(agents.shape[0]):
        _look_around(agents[w], blocks[w], grid[w], windows[w])

"""The masks of actions that can change nothing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cube_env.arrays import COL, ROW, WEIGHT, IntArray, World
from cube_env.constants import Action
from cube_env.jit import compiled_borrowing

MaskArray = npt.NDArray[np.int8]

_ACTIONS = len(Action)
_STAY, _UP, _DOWN, _LEFT, _RIGHT = (int(action) for action in Action)


def action_masks(world: World) -> MaskArray:
    """1 for what can matter, 0 for an action that is the same as STAY whatever the other agents do.

    The same are a step off the grid, and one into a block that is heavier than the whole team: it never moves. All else
    may matter: an agent or a block that stands in the way can be pushed out of it within the step.

    Args:
        world: One world, or a batch of them with a leading dimension.

    Returns:
        Shape (n, 5), or (W, n, 5), int8, an array of the caller's own.
    """
    masks = np.ones((*world.agents.shape[:-1], _ACTIONS), dtype=np.int8)
    if world.agents.ndim == 2:
        _mask(world.agents, world.blocks, world.grid, masks)
    else:
        _mask_worlds(world.agents, world.blocks, world.grid, masks)
    return masks


@compiled_borrowing
def _mask(agents: IntArray, blocks: IntArray, grid: IntArray, masks: MaskArray) -> None:
    n, side = agents.shape[0], grid.shape[0]
    for i in range(n):
        for action in range(_UP, _RIGHT + 1):
            row = agents[i, ROW] + (action == _DOWN) - (action == _UP)
            col = agents[i, COL] + (action == _RIGHT) - (action == _LEFT)
            inside = 0 <= row < side and 0 <= col < side
            masks[i, action] = inside and not (grid[row, col] < 0 and blocks[-grid[row, col] - 1, WEIGHT] > n)


@compiled_borrowing
def _mask_worlds(agents: IntArray, blocks: IntArray, grid: IntArray, masks: MaskArray) -> None:
    for w in range(agents.shape[0]):
        _mask(agents[w], blocks[w], grid[w], masks[w])

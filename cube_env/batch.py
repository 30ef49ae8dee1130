"""The arrays of many worlds of one size, and their boards."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from cube_env import arrays
from cube_env.arrays import IntArray, World
from cube_env.channels import occupy, paint


def allocate(num_envs: int, side: int, n: int, blocks: int, *, observe: bool) -> World:
    """The fields of `World`, each with a leading dimension; without `observe` the channels are `(W, 0, 0, 5)`."""

    def integers(*shape: int) -> IntArray:
        return np.zeros((num_envs, *shape), dtype=np.int32)

    observed = side if observe else 0
    return World(
        agents=integers(n, 2),
        blocks=integers(blocks, 4),
        grid=integers(side, side),
        channels=np.zeros((num_envs, observed, observed, arrays.CHANNELS), dtype=np.float32),
        counters=np.zeros((num_envs, arrays.COUNTERS), dtype=np.int64),
        attempts=integers(n, arrays.ATTEMPT_COLUMNS),
        agent_report=integers(n, arrays.AGENT_COLUMNS),
        block_report=integers(blocks, arrays.BLOCK_COLUMNS),
    )


def each_world(worlds: World) -> Iterator[World]:
    """The arrays of each world, live."""
    return (world_of(worlds, number) for number in range(len(worlds.agents)))


def world_of(worlds: World, number: int) -> World:
    """The arrays of one world, live."""
    return World._make(array[number] for array in worlds)


def lay_out(world: World, agents: npt.NDArray[np.int32], blocks: IntArray) -> None:
    """Begin an episode in the arrays of one world.

    Args:
        world: What is written.
        agents: Their cells, shape (n, 2).
        blocks: As in `World`.
    """
    world.agents[...] = agents
    world.blocks[...] = blocks
    occupy(world.agents, world.blocks, world.grid)
    if world.channels.size:
        paint(world.blocks, world.grid, world.channels)
    world.counters[...] = 0
    world.counters[arrays.COUNT_LIVE] = len(blocks)


def painted(worlds: World) -> npt.NDArray[np.float32]:
    """The channels of all worlds as an array of the caller's own, also where none are kept; shape (W, K, K, 5)."""
    if worlds.channels.size:
        return worlds.channels.copy()
    channels = np.empty((*worlds.grid.shape, arrays.CHANNELS), dtype=np.float32)
    for number, world in enumerate(each_world(worlds)):
        paint(world.blocks, world.grid, channels[number])
    return channels

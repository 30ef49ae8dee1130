"""The rewards of `cube_env.rewards` for a batch of worlds, equal to the bit to those of the single environment.

The two that come with CUBE are computed by kernels; one that somebody has registered is called for each world.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from cube_env.arrays import ALIVE, COL, ROW, WEIGHT, ActionArray, FlagArray, IntArray, RewardArray, World
from cube_env.batch import each_world
from cube_env.jit import compiled_borrowing
from cube_env.report import StepReport
from cube_env.rewards import ALIGNMENT_SCALE, PROGRESS_SCALE, RewardFunction, reward_function
from cube_env.state import CubeState, Snapshot

CountArray = npt.NDArray[np.int64]


class Shaping(Protocol):
    """What turns the rewards of the rules into those of a name."""

    def look(self, worlds: World) -> Any:
        """What is needed of the worlds before a step."""

    def apply(self, rewards: RewardArray, before: Any, worlds: World, joint: ActionArray, begins: FlagArray, /) -> None:
        """Turn the rewards of a step into the shaped ones, but for worlds that begin instead.

        Args:
            rewards: Shape (W,), written.
            before: What `look` gave.
            worlds: After the step.
            joint: The actions, shape (W, n).
            begins: Shape (W,).
        """


def shaping(name: str, *, step_cost: float, deliver_reward: float, max_steps: int) -> Shaping | None:
    """The shaping of a name, for worlds with these values; None for the reward of the rules.

    Raises:
        WorldError: There is no such reward.
    """
    function = reward_function(name)
    if function is None:
        return None
    if name in _KERNELS:
        return _Potential(*_KERNELS[name])
    return _Function(function, {"step_cost": step_cost, "deliver_reward": deliver_reward, "max_steps": max_steps})


class _Potential:
    """The growth of a potential that is a count, scaled and shared."""

    def __init__(self, count: Callable[[IntArray, IntArray, CountArray], None], scale: float) -> None:
        self._count = count
        self._scale = scale

    def look(self, worlds: World) -> RewardArray:
        found = np.zeros(len(worlds.agents), dtype=np.int64)
        self._count(worlds.blocks, worlds.grid, found)
        potential: RewardArray = -self._scale * found / worlds.agents.shape[1]
        return potential

    def apply(
        self, rewards: RewardArray, before: RewardArray, worlds: World, _joint: ActionArray, begins: FlagArray
    ) -> None:
        np.copyto(rewards, rewards + self.look(worlds) - before, where=~begins)


class _Function:
    """Any reward function, called for one world after the other."""

    def __init__(self, function: RewardFunction, values: Mapping[str, Any]) -> None:
        self._function = function
        self._values = values

    def look(self, worlds: World) -> Sequence[Snapshot]:
        return [CubeState.of(world).snapshot() for world in each_world(worlds)]

    def apply(
        self, rewards: RewardArray, before: Sequence[Snapshot], worlds: World, joint: ActionArray, begins: FlagArray
    ) -> None:
        for number, world in enumerate(each_world(worlds)):
            if not begins[number]:
                state = CubeState.of(world)
                report = StepReport(state, joint[number], **self._values)
                rewards[number] = self._function(before[number], state.snapshot(), report)


@compiled_borrowing
def _work_left(blocks: IntArray, grid: IntArray, found: CountArray) -> None:
    """Cells that the blocks of each world must still move, times their weights."""
    for w in range(blocks.shape[0]):
        for b in range(blocks.shape[1]):
            if blocks[w, b, ALIVE]:
                weight = blocks[w, b, WEIGHT]
                found[w] += weight * (grid.shape[1] - blocks[w, b, COL] - weight)


@compiled_borrowing
def _agents_lacking(blocks: IntArray, grid: IntArray, found: CountArray) -> None:
    """Agents that the left faces of each world's blocks lack to their quorum."""
    for w in range(blocks.shape[0]):
        for b in range(blocks.shape[1]):
            if blocks[w, b, ALIVE]:
                lacking = blocks[w, b, WEIGHT]
                for row in range(blocks[w, b, ROW], blocks[w, b, ROW] + blocks[w, b, WEIGHT]):
                    col = blocks[w, b, COL] - 1
                    while col >= 0 and grid[w, row, col] > 0:
                        lacking -= 1
                        col -= 1
                found[w] += max(0, lacking)


_KERNELS = {"progress": (_work_left, PROGRESS_SCALE), "alignment": (_agents_lacking, ALIGNMENT_SCALE)}

"""Named rewards, chosen with `env.reward` in the configuration and built from the symbolic concepts.

A reward function takes the state before a step, the state after it and the step's report, and returns the reward of
every agent for the step. `default` is the reward of the rules alone and costs no time. The others add the growth of a
potential, a function of the state alone. This changes no optimal policy of the undiscounted game (Ng, Harada and
Russell, "Policy invariance under reward transformations", ICML 1999).

Example of a custom reward, chosen with `env.reward=close` once its module is imported (`--plugin my.module`):
    ```python
    from cube_env import Snapshot, get_distance, potential_reward, register_reward

    def closeness(snapshot: Snapshot) -> float:
        agents = [f"agent_{i}" for i in range(len(snapshot.agents))]
        return -0.01 * fsum(get_distance(snapshot, agent, "goal") for agent in agents)

    register_reward("close", potential_reward(closeness))
    ```

A batch of worlds gets bit-identical rewards: kernels compute the two rewards that come with CUBE, and registered
functions are called once per world.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from pettingzoo.utils import BaseParallelWrapper  # type: ignore[import-untyped]

from cube_env.arrays import ALIVE, COL, ROW, WEIGHT, ActionArray, FlagArray, IntArray, RewardArray, World
from cube_env.concepts import block_progress, quorum_deficit
from cube_env.constants import Face
from cube_env.env import CubeEnv, Observation
from cube_env.jit import compiled_borrowing
from cube_env.state import CubeState, Snapshot, StepReport, each_world
from quorum_base.environments.errors import WorldError
from quorum_base.environments.parallel import Step

RewardFunction = Callable[[Snapshot, Snapshot, StepReport], float]
"""Maps `(before, after, report)` of a step to the reward of every agent."""

Potential = Callable[[Snapshot], float]

DEFAULT = "default"

PROGRESS_SCALE = 0.1
"""Reward for moving a unit of weight one cell nearer to the goal, before sharing: a tenth of a delivery's reward."""

ALIGNMENT_SCALE = 0.1
"""Reward for each agent that brings a left face nearer to its quorum, before sharing."""


def potential_reward(potential: Potential) -> RewardFunction:
    """Return the reward of the rules plus the growth of a potential in the step."""

    def reward(before: Snapshot, after: Snapshot, report: StepReport) -> float:
        return report.reward + potential(after) - potential(before)

    return reward


def progress(snapshot: Snapshot) -> float:
    """Potential: minus the cells that blocks must still move, weighted by block weight; shared by the agents."""
    work = sum(block.weight * block_progress(snapshot, block.id) for block in snapshot.blocks)
    return -PROGRESS_SCALE * work / len(snapshot.agents)


def alignment(snapshot: Snapshot) -> float:
    """Potential: minus the agents that the blocks' left faces lack for their quorums; shared by the agents."""
    lacking = sum(quorum_deficit(snapshot, block.id, Face.left) for block in snapshot.blocks)
    return -ALIGNMENT_SCALE * lacking / len(snapshot.agents)


_REWARDS: dict[str, RewardFunction | None] = {
    DEFAULT: None,
    "progress": potential_reward(progress),
    "alignment": potential_reward(alignment),
}


def register_reward(name: str, reward: RewardFunction) -> None:
    """Register a reward under a name.

    Raises:
        WorldError: The name is taken.
    """
    if name in _REWARDS:
        raise WorldError(f"a reward {name!r} already exists: choose another name")
    _REWARDS[name] = reward


def reward_names() -> tuple[str, ...]:
    """The names of all rewards."""
    return tuple(_REWARDS)


def reward_function(name: str) -> RewardFunction | None:
    """Return the reward with this name; None for the reward of the rules, which needs no snapshots.

    Raises:
        WorldError: Unknown name; the message lists the known ones.
    """
    if name not in _REWARDS:
        near = get_close_matches(name, _REWARDS, 1)
        guess = f", did you mean {near[0]!r}?" if near else ""
        raise WorldError(f"unknown reward {name!r}{guess} The rewards are: {', '.join(_REWARDS)}")
    return _REWARDS[name]


class ShapedEnv(BaseParallelWrapper[str, Observation, int]):  # type: ignore[misc]
    """A CUBE environment with a named reward.

    Args:
        env: the environment.
        name: name of the reward.

    Raises:
        WorldError: Unknown reward.
    """

    def __init__(self, env: CubeEnv, name: str) -> None:
        super().__init__(env)
        reward_function(name)  # reject an unknown name now, not at the first step
        # Store the name, because the function may be a closure and a shaped environment must be picklable.
        self.reward = name

    def step(self, actions: Mapping[str, int]) -> Step:
        """Advance by one joint action, as `CubeEnv.step` does."""
        env: CubeEnv = self.env
        reward = reward_function(self.reward)
        if reward is None:
            return env.step(actions)
        before = env.snapshot()
        observations, rewards, terminations, truncations, infos = env.step(actions)
        assert env.report is not None
        shaped = reward(before, env.snapshot(), env.report)
        return observations, dict.fromkeys(rewards, shaped), terminations, truncations, infos


CountArray = npt.NDArray[np.int64]


class Shaping(Protocol):
    """Turns the rewards of the rules into those of a named reward."""

    def look(self, worlds: World) -> Any:
        """Return what `apply` needs from the worlds before a step."""

    def apply(self, rewards: RewardArray, before: Any, worlds: World, joint: ActionArray, begins: FlagArray, /) -> None:
        """Turn the rewards of a step into the shaped ones, except for worlds that start an episode instead.

        Args:
            rewards: Shape (W,); written.
            before: The result of `look`.
            worlds: The worlds after the step.
            joint: The actions, shape (W, n).
            begins: Shape (W,), the worlds that start an episode.
        """


def shaping(name: str, *, step_cost: float, deliver_reward: float, max_steps: int) -> Shaping | None:
    """Return the shaping of a named reward for worlds with these values; None for the reward of the rules.

    Raises:
        WorldError: Unknown reward.
    """
    function = reward_function(name)
    if function is None:
        return None
    if name in _KERNELS:
        return _Potential(*_KERNELS[name])
    return _Function(function, {"step_cost": step_cost, "deliver_reward": deliver_reward, "max_steps": max_steps})


class _Potential:
    """The growth of a potential that is a scaled and shared count."""

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
    """Any reward function, called for one world after another."""

    def __init__(self, function: RewardFunction, values: Mapping[str, Any]) -> None:
        self._function = function
        self._values = values

    def look(self, worlds: World) -> Sequence[Snapshot]:
        return [CubeState(world).snapshot() for world in each_world(worlds)]

    def apply(
        self, rewards: RewardArray, before: Sequence[Snapshot], worlds: World, joint: ActionArray, begins: FlagArray
    ) -> None:
        for number, world in enumerate(each_world(worlds)):
            if not begins[number]:
                state = CubeState(world)
                report = StepReport(state, joint[number], **self._values)
                rewards[number] = self._function(before[number], state.snapshot(), report)


@compiled_borrowing
def _work_left(blocks: IntArray, grid: IntArray, found: CountArray) -> None:
    """Sum, for each world, the cells that blocks must still move, times their weights."""
    for w in range(blocks.shape[0]):
        for b in range(blocks.shape[1]):
            if blocks[w, b, ALIVE]:
                weight = blocks[w, b, WEIGHT]
                found[w] += weight * (grid.shape[1] - blocks[w, b, COL] - weight)


@compiled_borrowing
def _agents_lacking(blocks: IntArray, grid: IntArray, found: CountArray) -> None:
    """Count, for each world, the agents that the blocks' left faces lack for their quorums."""
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

"""Rewards by name: what `env.reward` of the configuration chooses, built from the symbolic concepts.

A reward is a function of the state before a step, the state after it and the step's report; what it gives is every
agent's reward for the step. `default` is the reward of the rules alone and costs nothing. The others add to it the
growth of a potential, a function of the state alone, which changes no optimal policy of the undiscounted game (Ng,
Harada and Russell, "Policy invariance under reward transformations", ICML 1999).

Example, a reward of one's own, chosen with `env.reward=close` once its module is imported (`--plugin my.module`):
    ```python
    from cube_env import Snapshot, get_distance, potential_reward, register_reward

    def closeness(snapshot: Snapshot) -> float:
        agents = [f"agent_{i}" for i in range(len(snapshot.agents))]
        return -0.01 * fsum(get_distance(snapshot, agent, "goal") for agent in agents)

    register_reward("close", potential_reward(closeness))
    ```
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from pettingzoo.utils import BaseParallelWrapper  # type: ignore[import-untyped]

from cube_env.concepts import block_progress, quorum_deficit
from cube_env.constants import Face
from cube_env.env import CubeEnv, Observation
from cube_env.report import StepReport
from cube_env.state import Snapshot
from maeil.environments.errors import WorldError

RewardFunction = Callable[[Snapshot, Snapshot, StepReport], float]
"""`(before, after, report)` of a step to the reward of every agent."""

Potential = Callable[[Snapshot], float]

DEFAULT = "default"

PROGRESS_SCALE = 0.1
"""Reward for moving a unit of weight one cell nearer to the goal, before it is shared: a tenth of a delivery's."""

ALIGNMENT_SCALE = 0.1
"""Reward for each agent by which a left face comes nearer to its quorum, before it is shared."""


def potential_reward(potential: Potential) -> RewardFunction:
    """The reward of the rules plus the growth of a potential in the step."""

    def reward(before: Snapshot, after: Snapshot, report: StepReport) -> float:
        return report.reward + potential(after) - potential(before)

    return reward


def progress(snapshot: Snapshot) -> float:
    """Potential: minus the cells that blocks must still move, times their weight; shared by the agents."""
    work = sum(block.weight * block_progress(snapshot, block.id) for block in snapshot.blocks)
    return -PROGRESS_SCALE * work / len(snapshot.agents)


def alignment(snapshot: Snapshot) -> float:
    """Potential: minus the agents that the blocks' left faces lack to their quorum; shared by the agents."""
    lacking = sum(quorum_deficit(snapshot, block.id, Face.left) for block in snapshot.blocks)
    return -ALIGNMENT_SCALE * lacking / len(snapshot.agents)


_REWARDS: dict[str, RewardFunction | None] = {
    DEFAULT: None,
    "progress": potential_reward(progress),
    "alignment": potential_reward(alignment),
}


def register_reward(name: str, reward: RewardFunction) -> None:
    """Offer a reward by name.

    Raises:
        WorldError: The name is taken.
    """
    if name in _REWARDS:
        raise WorldError(f"there is a reward {name!r} already: choose another name")
    _REWARDS[name] = reward


def reward_names() -> tuple[str, ...]:
    """The names of all rewards."""
    return tuple(_REWARDS)


def reward_function(name: str) -> RewardFunction | None:
    """The reward of a name; None for the reward of the rules, which needs no snapshots.

    Raises:
        WorldError: There is none; the message says which there are.
    """
    if name not in _REWARDS:
        near = get_close_matches(name, _REWARDS, 1)
        guess = f", did you mean {near[0]!r}?" if near else ""
        raise WorldError(f"unknown reward {name!r}{guess} The rewards are: {', '.join(_REWARDS)}")
    return _REWARDS[name]


class ShapedEnv(BaseParallelWrapper[str, Observation, int]):  # type: ignore[misc]
    """A CUBE environment whose rewards are those of a name.

    Args:
        env: the environment.
        name: name of the reward.

    Raises:
        WorldError: There is no such reward.
    """

    def __init__(self, env: CubeEnv, name: str) -> None:
        super().__init__(env)
        reward_function(name)  # refuses an unknown name here, not at the first step
        # The name and not the function, which may be a closure, so that a shaped environment can be pickled.
        self.reward = name

    def step(
        self, actions: Mapping[str, int]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
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

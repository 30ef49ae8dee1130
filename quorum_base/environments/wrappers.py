"""Wrappers for learners. They work with every world."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from math import fsum
from typing import Any, Literal

import numpy as np
from gymnasium import Space
from gymnasium.spaces import Box, Dict, flatten, flatten_space
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]
from pettingzoo.utils import BaseParallelWrapper  # type: ignore[import-untyped]

from quorum_base.environments.arguments import one_of
from quorum_base.environments.parallel import Infos, Observations, Step

_MASK = "action_mask"


class ObservingWrapper(BaseParallelWrapper[str, Any, Any], ABC):  # type: ignore[misc]
    """Base class of wrappers that change the observations; all agents have the same space.

    Args:
        env: The environment, or a wrapper of one.
        space: The space of an agent's observation.
    """

    def __init__(self, env: ParallelEnv, space: Space[Any]) -> None:
        super().__init__(env)
        self.observation_spaces = dict.fromkeys(env.possible_agents, space)

    def observation_space(self, agent: str) -> Space[Any]:
        """The space of an agent's observation, one object for all agents."""
        return self.observation_spaces[agent]

    @abstractmethod
    def observe(self, observations: Observations) -> Observations:
        """Return the new observations of the agents, by name."""

    def inform(self, infos: Infos, observations: Observations) -> Infos:  # noqa: ARG002 (for those who need them)
        """Return the infos of the agents; `observations` are those of the wrapped environment."""
        return infos

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observations, Infos]:
        """Start an episode of the wrapped environment."""
        observations, infos = self.env.reset(seed=seed, options=options)
        return self.observe(observations), self.inform(infos, observations)

    def step(self, actions: Mapping[str, Any]) -> Step:
        """Advance by one joint action, as the wrapped environment does."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        return self.observe(observations), rewards, terminations, truncations, self.inform(infos, observations)


class FlatObservations(ObservingWrapper):
    """An environment in which each agent's observation is one flat vector.

    Observation: float32 `(F,)`, the parts of the observation in the order of `gymnasium.spaces.flatten`. Integer codes
        of kinds, such as the materials of the open world, are not one-hot encoded; planes of zeros and ones are easier
        to learn from.
    Infos: include the `action_mask` of observations that have one, since the vector leaves it out.

    Args:
        env: The environment, or a wrapper of one.
    """

    def __init__(self, env: ParallelEnv) -> None:
        seen = env.observation_space(env.possible_agents[0])
        self._seen = seen
        if isinstance(seen, Dict):
            self._seen = Dict({name: part for name, part in seen.items() if name != _MASK})
        flat = flatten_space(self._seen)
        assert isinstance(flat, Box)
        super().__init__(env, Box(flat.low.astype(np.float32), flat.high.astype(np.float32), dtype=np.float32))

    def observe(self, observations: Observations) -> Observations:
        """Flatten the observations of the agents."""
        return {name: np.asarray(flatten(self._seen, seen), dtype=np.float32) for name, seen in observations.items()}

    def inform(self, infos: Infos, observations: Observations) -> Infos:
        """Add the masks of the observations to the infos."""
        return {
            name: {**info, _MASK: observations[name][_MASK]} if _MASK in observations[name] else info
            for name, info in infos.items()
        }


class TeamReward(BaseParallelWrapper[str, Any, Any]):  # type: ignore[misc]
    """An environment in which every agent gets the mean, or the sum, of the team's rewards.

    The mean is over the whole team. Dead agents count with 0, so that a death does not increase the value of the other
    agents' rewards. In worlds with a shared reward, the mean changes nothing, and the sum is the undivided reward.

    Args:
        env: The environment, or a wrapper of one.
        reduce: `"mean"` or `"sum"`.

    Raises:
        WorldError: `reduce` is neither.
    """

    def __init__(self, env: ParallelEnv, reduce: Literal["mean", "sum"] = "mean") -> None:
        super().__init__(env)
        self.reduce = one_of("reduce", reduce, ("mean", "sum"))

    def step(self, actions: Mapping[str, Any]) -> Step:
        """Advance by one joint action, as the wrapped environment does."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        total = fsum(rewards.values())
        shared = total if self.reduce == "sum" else total / len(self.possible_agents)
        return observations, dict.fromkeys(rewards, shared), terminations, truncations, infos

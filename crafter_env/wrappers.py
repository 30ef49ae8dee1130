"""Wrappers for learners: other observations, actions and rewards for the same world."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Discrete
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]
from pettingzoo.utils import BaseParallelWrapper  # type: ignore[import-untyped]

from crafter_env.constants import NEED_MAX, NEEDS, VIEW, Entity, Item, Material
from crafter_env.kernels.arrays import MaskArray
from crafter_env.spaces import flat_choices, read_flat
from crafter_env.state import CrafterState
from quorum_base.environments.actions import number
from quorum_base.environments.errors import WorldError
from quorum_base.environments.parallel import Infos, Observations, Step
from quorum_base.environments.wrappers import FlatObservations, ObservingWrapper, TeamReward

__all__ = ["Egocentric", "FlatActions", "FlatObservations", "TeamReward"]

_MATERIALS = np.array([material for material in Material if material])
_ENTITIES = np.array([entity for entity in Entity if entity])
_IDENTITY = len(_MATERIALS) + len(_ENTITIES)
_BAG = _IDENTITY + 1
_POSE = _BAG + len(Item)
_PLANES = _POSE + 4


class Egocentric(ObservingWrapper):
    """A `CrafterEnv` in which each agent sees its surroundings as planes, without its position on the map.

    Observation: float32 `(9, 7, 40)` in [-1, 1], indexed `[x, y]`, the agent in the middle. In order: 12 planes of
        materials and 7 of entities, 1 where one is, all 0 off the map; the teammates by index, `(index + 1) / n`; then
        planes of one number each: the 16 items as a share of the maximum an agent can hold, needs first; facing x and
        y; sleeping; daylight.

    Args:
        env: A `CrafterEnv` that observes the local view, or a wrapper of one.

    Raises:
        WorldError: The environment observes only pictures.
    """

    def __init__(self, env: ParallelEnv) -> None:
        if env.unwrapped.obs == "pixels":
            raise WorldError('Egocentric needs the local view: make the environment with obs="symbolic"')
        low = np.zeros((*VIEW, _PLANES), dtype=np.float32)
        low[..., _POSE : _POSE + 2] = -1
        super().__init__(env, Box(low, np.ones_like(low), dtype=np.float32))
        self._cap = np.full(len(Item), env.unwrapped.profile.item_cap, dtype=np.float32)
        self._cap[: len(NEEDS)] = NEED_MAX

    def observe(self, observations: Observations) -> Observations:
        """The planes of the agents, by name."""
        state = self.env.unwrapped.crafter_state
        return {
            name: self._planes(seen, state, self.possible_agents.index(name)) for name, seen in observations.items()
        }

    def _planes(self, seen: Mapping[str, npt.NDArray[Any]], state: CrafterState, agent: int) -> npt.NDArray[np.float32]:
        planes = np.zeros((*VIEW, _PLANES), dtype=np.float32)
        planes[..., : len(_MATERIALS)] = seen["materials"][..., None] == _MATERIALS
        planes[..., len(_MATERIALS) : _IDENTITY] = seen["entities"][..., None] == _ENTITIES
        places = state.positions - state.positions[agent] + np.array(VIEW) // 2
        inside = ((places >= 0) & (places < VIEW)).all(axis=1) & state.alive & (seen["entities"].any())
        inside[agent] = False
        planes[places[inside, 0], places[inside, 1], _IDENTITY] = (np.flatnonzero(inside) + 1) / len(inside)
        planes[..., _BAG:_POSE] = seen["inventory"] / self._cap
        planes[..., _POSE : _POSE + 3] = seen["pose"][2:]
        planes[..., _POSE + 3] = seen["daylight"]
        return planes


class FlatActions(BaseParallelWrapper[str, Any, int]):  # type: ignore[misc]
    """A `CrafterEnv` in which an agent's action is a single `Discrete` number.

    Action: `Discrete(17)`; with sharing `Discrete(17 + 15 n)`: the primitives, followed by
        `17 + 15 * recipient + (item - 1)`, one unit of an item to a teammate.
    Infos: `action_mask` has that length and is exact: each possible share has its own entry.

    Args:
        env: A `CrafterEnv`, or a wrapper of one.
    """

    def __init__(self, env: ParallelEnv) -> None:
        super().__init__(env)
        self._choices = flat_choices(env.unwrapped.profile, len(env.possible_agents))
        self.action_spaces = {name: Discrete(self._choices) for name in env.possible_agents}

    def action_space(self, agent: str) -> Discrete:
        """The space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Any, Infos]:
        """Start an episode, as `CrafterEnv.reset` does."""
        observations, infos = self.env.reset(seed=seed, options=options)
        return observations, self._masked(infos)

    def step(self, actions: Mapping[str, int]) -> Step:
        """Advance by one joint action, as `CrafterEnv.step` does.

        Raises:
            ActionError: A living agent has no valid action, or a name is unknown; nothing has moved.
            EpisodeError: No episode is running.
        """
        if self.env.unwrapped.profile.sharing and isinstance(actions, Mapping):
            actions = {name: self._read(name, action) for name, action in actions.items()}
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        return observations, rewards, terminations, truncations, self._masked(infos)

    def action_masks(self) -> dict[str, MaskArray]:
        """Return the action mask of each living agent, int8 `(17 + 15 n,)`, by name."""
        masks = dict(zip(self.possible_agents, self.env.unwrapped.flat_masks(), strict=True))
        return {name: masks[name] for name in self.agents}

    def _read(self, name: str, action: Any) -> Any:
        return read_flat(np.array(number(name, action, self._choices)))

    def _masked(self, infos: Infos) -> Infos:
        if not any("action_mask" in info for info in infos.values()):
            return infos
        masks = dict(zip(self.possible_agents, self.env.unwrapped.flat_masks(), strict=True))
        return {name: {**info, "action_mask": masks[name]} for name, info in infos.items()}

"""Each agent sees planes of zeros and ones around itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]

from crafter_env.constants import NEED_MAX, NEEDS, VIEW, Entity, Item, Material
from crafter_env.errors import CrafterError
from crafter_env.state import CrafterState
from crafter_env.wrappers.observing import ObservingWrapper, Vectors

_MATERIALS = np.array([material for material in Material if material])
_ENTITIES = np.array([entity for entity in Entity if entity])
_IDENTITY = len(_MATERIALS) + len(_ENTITIES)
_BAG = _IDENTITY + 1
_POSE = _BAG + len(Item)
_PLANES = _POSE + 4


class Egocentric(ObservingWrapper):
    """A `CrafterEnv` in which each agent sees what is around it as planes, and nothing of where on the map it is.

    Observation: float32 `(9, 7, 40)` in [-1, 1], indexed `[x, y]`, the agent in the middle. In their order: 12 planes
        of materials and 7 of entities, 1 where one is, all 0 off the map; the teammates by index, `(index + 1) / n`;
        then planes of one number each: the 16 items as a share of what an agent can hold, needs first; facing x and
        y; sleeping; daylight.

    Args:
        env: A `CrafterEnv` that observes the local view, or a wrapper of one.

    Raises:
        CrafterError: It observes pictures alone.
    """

    def __init__(self, env: ParallelEnv) -> None:
        if env.unwrapped.obs == "pixels":
            raise CrafterError('Egocentric needs the local view: make the environment with obs="symbolic"')
        low = np.zeros((*VIEW, _PLANES), dtype=np.float32)
        low[..., _POSE : _POSE + 2] = -1
        super().__init__(env, Box(low, np.ones_like(low), dtype=np.float32))
        self._cap = np.full(len(Item), env.unwrapped.profile.item_cap, dtype=np.float32)
        self._cap[: len(NEEDS)] = NEED_MAX

    def observe(self, observations: Mapping[str, Any]) -> Vectors:
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

"""Each agent's choice as one number, also where there is sharing."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]
from pettingzoo.utils import BaseParallelWrapper  # type: ignore[import-untyped]

from crafter_env.errors import ActionError
from crafter_env.flat import flat_choices, read_flat
from crafter_env.kernels.arrays import MaskArray
from crafter_env.wrappers.observing import Infos, Step


class FlatActions(BaseParallelWrapper[str, Any, int]):  # type: ignore[misc]
    """A `CrafterEnv` in which an agent's action is one `Discrete` number.

    Action: `Discrete(17)`; where there is sharing `Discrete(17 + 15 n)`: behind the primitives stands
        `17 + 15 * recipient + (item - 1)`, one unit of an item to a teammate.
    Infos: `action_mask` is of that length and exact: each share that can be carried out has its own entry.

    Args:
        env: A `CrafterEnv`, or a wrapper of one.
    """

    def __init__(self, env: ParallelEnv) -> None:
        super().__init__(env)
        choices = flat_choices(env.unwrapped.profile, len(env.possible_agents))
        self.action_spaces = {name: Discrete(choices) for name in env.possible_agents}

    def action_space(self, agent: str) -> Discrete:
        """The space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Any, Infos]:
        """Begin an episode, as `CrafterEnv.reset` does."""
        observations, infos = self.env.reset(seed=seed, options=options)
        return observations, self._masked(infos)

    def step(self, actions: Mapping[str, int]) -> Step:
        """Advance by one joint action, as `CrafterEnv.step` does.

        Raises:
            ActionError: Not one action of the action space for every living agent; nothing has moved.
            EpisodeError: There is no running episode.
        """
        if self.env.unwrapped.profile.sharing and isinstance(actions, Mapping):
            actions = {name: self._read(name, action) for name, action in actions.items()}
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        return observations, rewards, terminations, truncations, self._masked(infos)

    def action_masks(self) -> dict[str, MaskArray]:
        """What each living agent can do now, int8 `(17 + 15 n,)`, by name."""
        masks = dict(zip(self.possible_agents, self.env.unwrapped.flat_masks(), strict=True))
        return {name: masks[name] for name in self.agents}

    def _read(self, name: str, action: Any) -> Any:
        choices = next(iter(self.action_spaces.values())).n
        try:
            number = index(action)
        except TypeError:
            number = -1
        if not 0 <= number < choices:
            raise ActionError(f"{name}: action {action!r} is none of 0 to {choices - 1}")
        return read_flat(np.array(number))

    def _masked(self, infos: Infos) -> Infos:
        if not any("action_mask" in info for info in infos.values()):
            return infos
        masks = dict(zip(self.possible_agents, self.env.unwrapped.flat_masks(), strict=True))
        return {name: {**info, "action_mask": masks[name]} for name, info in infos.items()}

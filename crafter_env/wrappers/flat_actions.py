"""Each agent's choice as one number, also where there is sharing."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Discrete
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]
from pettingzoo.utils import BaseParallelWrapper  # type: ignore[import-untyped]

from crafter_env.constants import NEED_MAX, NEEDS, Action, Item
from crafter_env.errors import ActionError
from crafter_env.joint_action import share
from crafter_env.kernels.arrays import MaskArray
from crafter_env.wrappers.observing import Infos, Step

SHAREABLE = tuple(item for item in Item if item != Item.health)
"""What can be given to a teammate."""
_PLAIN = int(Action.share)


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
        self.n = len(env.possible_agents)
        self._sharing = env.unwrapped.profile.sharing
        choices = _PLAIN + (self.n * len(SHAREABLE) if self._sharing else 0)
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
        if self._sharing and isinstance(actions, Mapping):
            actions = {name: self._read(name, action) for name, action in actions.items()}
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        return observations, rewards, terminations, truncations, self._masked(infos)

    def action_masks(self) -> dict[str, MaskArray]:
        """What each living agent can do now, int8 `(17 + 15 n,)`, by name."""
        masks = self.env.unwrapped.action_masks()
        if not self._sharing:
            return dict(masks)
        shares = self._shares()
        return {
            name: np.concatenate([mask[:_PLAIN], shares[self.possible_agents.index(name)]])
            for name, mask in masks.items()
        }

    def _read(self, name: str, action: Any) -> Any:
        try:
            number = index(action)
        except TypeError:
            raise ActionError(f"{name}: action {action!r} is no integer") from None
        if _PLAIN <= number < self.action_spaces[self.possible_agents[0]].n:
            recipient, item = divmod(number - _PLAIN, len(SHAREABLE))
            return share(recipient, SHAREABLE[item])
        return number if number < _PLAIN else number - _PLAIN + len(Action)

    def _masked(self, infos: Infos) -> Infos:
        if not self._sharing or not any("action_mask" in info for info in infos.values()):
            return infos
        masks = self.action_masks()
        alone = np.zeros(self.action_spaces[self.possible_agents[0]].n, dtype=np.int8)
        alone[Action.noop] = 1
        return {name: {**info, "action_mask": masks.get(name, alone)} for name, info in infos.items()}

    def _shares(self) -> npt.NDArray[np.int8]:
        """Which shares can be carried out, (n, 15 n)."""
        env = self.env.unwrapped
        state, profile = env.crafter_state, env.profile
        cap = np.full(len(Item), profile.item_cap)
        cap[: len(NEEDS)] = NEED_MAX
        held, room = state.inventory[:, SHAREABLE] > 0, state.inventory[:, SHAREABLE] < cap[list(SHAREABLE)]
        apart = np.abs(state.positions[:, None] - state.positions[None]).sum(axis=-1)
        near = (
            ~np.eye(self.n, dtype=np.bool_)
            if profile.share_radius is None
            else ((apart <= profile.share_radius) & ~np.eye(self.n, dtype=np.bool_))
        )
        awake = [bool(mask[Action.share]) for mask in env.action_masks().values()]
        able = np.zeros(self.n, dtype=np.bool_)
        able[[self.possible_agents.index(name) for name in env.agents]] = awake
        allowed = near[:, :, None] & held[:, None] & room[None] & (state.alive[None, :] & able[:, None])[..., None]
        shares: npt.NDArray[np.int8] = allowed.reshape(self.n, -1).astype(np.int8)
        return shares

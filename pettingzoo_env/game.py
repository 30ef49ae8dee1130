"""One form for parallel environments and those that go turn by turn: who acts, what each observes, what each gets."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
from pettingzoo import AECEnv, ParallelEnv  # type: ignore[import-untyped]

from maeil.environments.errors import EpisodeError, WorldError

_LONGEST = 2000
"""Characters of an environment's documentation in a prompt, at most."""
_MARKUP = re.compile(r"<[^>\n]+>|^\|.*$|^#.*$|```[^`]*```", re.MULTILINE)


def find(environment: str) -> Callable[..., Any]:
    """Import a module, and return the function of it that makes an environment. The current folder is searched last.

    Args:
        environment: `MODULE:FUNCTION`; without a function, `parallel_env`, and else `env`.

    Raises:
        WorldError: there is no such module or function.
    """
    module, _, function = environment.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        if error.name and f"{module}.".startswith(f"{error.name}."):
            raise WorldError(
                f"id: no module {module} in the current folder or among the installed packages: install it"
            ) from error
        raise WorldError(f"id: {module} needs the module {error.name}: pip install it") from error
    names = [function] if function else ["parallel_env", "env"]
    made = next((own for name in names if callable(own := getattr(found, name, None))), None)
    if made is None:
        near = get_close_matches(function, dir(found), n=1)
        hint = f"Did you mean {near[0]!r}?" if near else "Give MODULE:FUNCTION."
        raise WorldError(f"id: {module} has no function {' or '.join(names)}. {hint}")
    return made  # type: ignore[no-any-return]


class Game:
    """An environment of PettingZoo, played by agents with indices.

    Args:
        environment: `MODULE[:FUNCTION]`.
        kwargs: arguments of the function.

    Attributes:
        names: of all agents that may play, by index.
        turns: whether one agent acts at a time.
        renders: whether it draws itself.
        observations: the last of each agent; None before its first.
        masks: which choices of a `Discrete` space each agent has; None for all.
        over: whether the episode has ended.
        truncated: whether that was by its step limit.

    Raises:
        WorldError: it cannot be made; the message begins with `id` or `kwargs`.
    """

    def __init__(self, environment: str, kwargs: Mapping[str, Any]) -> None:
        self.id, self._played = environment, False
        if "render_mode" in kwargs:
            raise WorldError("kwargs.render_mode: leave it out: what renders is asked for rgb_array")
        make = find(environment)
        try:
            self._env: Any = make(**kwargs)
            self.renders = "rgb_array" in (getattr(self._env, "metadata", None) or {}).get("render_modes", ())
            self._make = partial(make, **kwargs, **({"render_mode": "rgb_array"} if self.renders else {}))
            if self.renders:
                self._env = self._make()
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise WorldError(f"kwargs: {environment} cannot be made with these: {reason}") from error
        if not isinstance(self._env, AECEnv | ParallelEnv):
            kind = type(self._env).__name__
            raise WorldError(f"id: {environment} makes a {kind}: it has to be an AECEnv or a ParallelEnv")
        self.turns = isinstance(self._env, AECEnv)
        self._keys = list(getattr(self._env, "possible_agents", None) or ())
        if not self._keys:
            raise WorldError(f"id: {environment} has no possible_agents: they have to name all that may play")
        self.names = tuple(map(str, self._keys))
        self._index = {key: index for index, key in enumerate(self._keys)}
        self.spaces = [self._env.action_space(key) for key in self._keys]

    def reset(self, seed: int) -> None:
        """Begin an episode, in an environment that has played no other: some keep more of one than they reset."""
        self._env = self._make() if self._played else self._env
        self._played = True
        self.observations: list[Any] = [None] * len(self.names)
        self.masks: list[Any] = [None] * len(self.names)
        self.over = self.truncated = False
        found = self._env.reset(seed=seed)
        if self.turns:
            self._settle()
        else:
            self._look(*found)

    def acting(self) -> list[int]:
        """Return who acts in the coming step: indices, ascending."""
        if self.over:
            return [0]
        keys = [self._env.agent_selection] if self.turns else self._env.agents
        return sorted(self._of(key) for key in keys)

    def living(self) -> list[int]:
        """Return who has not left yet."""
        return [self._of(key) for key in self._env.agents]

    def step(self, actions: Mapping[int, Any]) -> list[float]:
        """Take a step, and return what each agent gets, by index.

        Args:
            actions: of those who act.
        """
        if self.turns:
            self._env.step(actions[self._of(self._env.agent_selection)])
            rewards = dict(self._env.rewards)
            self._settle()
        else:
            joint = {self._keys[agent]: action for agent, action in actions.items()}
            observations, rewards, terminations, truncations, infos = self._env.step(joint)
            self._look(observations, infos)
            ended = {key: terminations.get(key) or truncations.get(key) for key in joint}
            self.over = not self._env.agents or all(ended.values())
            self.truncated = self.over and any(truncations.values())
        return [float(rewards.get(key, 0)) for key in self._keys]

    def image(self) -> npt.NDArray[np.uint8]:
        """Return its picture, RGB, uint8 of shape (height, width, 3)."""
        picture = np.asarray(self._env.render())
        if picture.ndim != 3 or picture.shape[2] < 3:
            raise EpisodeError(f"{self.id}: render() gives no picture: an array of shape {picture.shape}")
        return np.ascontiguousarray(picture[:, :, :3], dtype=np.uint8)

    def documentation(self) -> str:
        """Return what the environment says of itself, without markup."""
        kind = type(self._env.unwrapped)
        text = kind.__dict__.get("__doc__") or sys.modules[kind.__module__].__doc__ or ""
        return re.sub(r"\n\s*\n+", "\n\n", _MARKUP.sub("", inspect.cleandoc(text))).strip()[:_LONGEST]

    def _settle(self) -> None:
        """Look at all agents, and have those leave whose episode has ended: their last look is at its end."""
        gone: set[Any] = set()
        while self._env.agents:
            for key in self._env.agents:
                self._look({key: self._env.observe(key)}, self._env.infos)
            key = self._env.agent_selection
            if not (self._env.terminations[key] or self._env.truncations[key]):
                return
            self.truncated |= bool(self._env.truncations[key])
            self._env.step(None)
            if key in self._env.agents or key in gone:
                raise EpisodeError(f"id: {self.id}: step(None) does not remove {key}, whose episode has ended")
            gone.add(key)
        self.over, self.masks = True, [None] * len(self.names)

    def _look(self, observations: Mapping[Any, Any], infos: Mapping[Any, Any]) -> None:
        for key, seen in observations.items():
            mask = seen.get("action_mask") if isinstance(seen, Mapping) else None
            if mask is None:
                mask = infos.get(key, {}).get("action_mask")
            self.observations[self._of(key)] = seen
            self.masks[self._of(key)] = mask if mask is not None and np.any(mask) else None

    def _of(self, key: Any) -> int:
        if key not in self._index:
            raise EpisodeError(
                f"id: {self.id}: the agent {key} is not among its possible_agents: {', '.join(self.names)}"
            )
        return self._index[key]

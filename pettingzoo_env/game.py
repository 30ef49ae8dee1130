"""A common interface to parallel and turn-based environments: acting agents, observations and rewards."""

from __future__ import annotations

import inspect
import logging
import os
import re
import sys
import weakref
from collections.abc import Callable, Hashable, Iterable, Mapping
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
from pettingzoo import AECEnv, ParallelEnv  # type: ignore[import-untyped]

from pettingzoo_env.spaces import legal_of
from pettingzoo_env.symbolic.border import Border, place_in
from quorum_base.environments.errors import WorldError

_LONGEST = 2000
"""Maximum number of characters of an environment's documentation in a prompt."""
_MOST_LEAVING = 10_000
"""Maximum number of agents that leave between two actions, to stop an agent that re-enters forever."""
_MARKUP = re.compile(r"<[^>\n]+>|^\|.*$|^#.*$|```[^`]*```", re.MULTILINE)
_PICTURES = "rgb_array"
_log = logging.getLogger(__name__)


def find(environment: str) -> Callable[..., Any]:
    """Import a module and return its function that makes an environment. The current folder is searched last.

    Args:
        environment: `MODULE:FUNCTION`; without a function, `parallel_env`, else `env`.

    Raises:
        WorldError: the module or function is missing, or the module cannot be imported.
    """
    module, _, function = environment.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        found = import_module(module)
    except (Exception, SystemExit) as error:
        if not isinstance(error, ModuleNotFoundError):
            why = f"{type(error).__name__}: {error}{place_in(error, module)}"
            raise WorldError(f"id: {module} cannot be imported: {why}") from error
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
    """A PettingZoo environment, played by agents with indices.

    There is only one environment at a time: it is closed before the next is made, and when the game is no longer used.

    Args:
        environment: `MODULE[:FUNCTION]`.
        kwargs: arguments of the function.

    Attributes:
        names: names of all possible agents, by index.
        turns: whether agents act one at a time.
        renders: whether the environment draws itself.
        observations: the last observation of each agent; None before its first.
        legal: current legal actions of each agent, in the format of `legal_of`; None for all.
        over: whether the episode has ended.
        truncated: whether it ended by its step limit.

    Raises:
        WorldError: the environment cannot be made; the message begins with `id` or `kwargs`.
        ContractError: it violates PettingZoo's interface.
    """

    def __init__(self, environment: str, kwargs: Mapping[str, Any]) -> None:
        self.id, self._played = environment, False
        if "render_mode" in kwargs:
            raise WorldError(f"kwargs.render_mode: leave it out: Quorum sets it to {_PICTURES} if possible")
        self._makers = _makers(find(environment), kwargs)
        self._open()
        self.renders = _PICTURES in _modes(self._env)
        self.turns = isinstance(self._env, AECEnv)
        self._keys = list(getattr(self._env, "possible_agents", None) or ())
        if not self._keys:
            raise WorldError(f"id: {environment} has no possible_agents: this list must name all agents that may play")
        self.names = tuple(map(str, self._keys))
        self._index = {key: index for index, key in enumerate(self._keys)}
        self._border.know(self._keys)
        self.spaces = [self._border.call("action_space", key) for key in self._keys]

    def _open(self) -> None:
        """Make the environment. A function that has failed is not tried again."""
        while True:
            try:
                env = self._makers[0]()
                break
            except Exception as error:
                if len(self._makers) > 1:
                    del self._makers[0]
                    continue
                reason = f"{type(error).__name__}: {error}{place_in(error, self.id.partition(':')[0])}"
                raise WorldError(f"kwargs: {self.id} cannot be made with these arguments: {reason}") from error
        if not isinstance(env, AECEnv | ParallelEnv):
            kind = type(env).__name__
            raise WorldError(f"id: {self.id} makes a {kind}, but must make an AECEnv or a ParallelEnv")
        self._env, self._border, self.close = env, Border(self.id, env), weakref.finalize(self, _close, env, self.id)

    def reset(self, seed: int) -> None:
        """Start an episode in a fresh environment, because some do not reset everything."""
        if self._played:
            self.close()
            self._open()
            self._border.know(self._keys)
        self._played = True
        self.observations: list[Any] = [None] * len(self.names)
        self.legal: list[Any] = [None] * len(self.names)
        self.over = self.truncated = False
        if self.turns:
            self._border.call("reset", seed=seed)
            self._accumulates = False
            self._gains = self._accumulated()
            self._settle()
        else:
            self._look("reset", **self._border.returned("reset", seed=seed))
        if self.over or not self._border.agents():
            raise self._border.wrong("reset", "its list of agents is empty after reset()")

    def acting(self) -> list[int]:
        """Return the indices of the agents that act in the coming step, ascending."""
        if self.over:
            return [0]
        return sorted(self._indices([self._border.selected()] if self.turns else self._border.agents()))

    def living(self) -> list[int]:
        """Return the agents that have not left yet."""
        return self._indices(self._border.agents())

    def step(self, actions: Mapping[int, Any]) -> list[float]:
        """Take a step and return each agent's reward, by index.

        Args:
            actions: actions of the acting agents.
        """
        if self.turns:
            rewards = self._turn(actions)
        else:
            joint = {self._keys[agent]: action for agent, action in actions.items()}
            before = self._border.agents()
            given = self._border.returned("step", joint)
            rewards, terminations, truncations = (given[key] for key in ("rewards", "terminations", "truncations"))
            self._look("step", given["observations"], given["infos"])
            self.over = all(terminations.get(key) or truncations.get(key) for key in self._border.agents())
            self.truncated = self.over and any(truncations.get(key) for key in before)
        return [rewards.get(key, 0.0) for key in self._keys]

    def image(self) -> npt.NDArray[np.uint8]:
        """Return the rendered picture, RGB, uint8 of shape (height, width, 3)."""
        return self._border.picture()

    def wrong_draws(self, what: str) -> Exception:
        """Return the error for two resets with one seed that differ in their observations."""
        return self._border.wrong("reset", f"draws that do not follow from the seed: {what}")

    def documentation(self) -> str:
        """Return the environment's documentation without markup."""
        kind = type(self._env.unwrapped)
        module = inspect.getmodule(kind)
        text = kind.__dict__.get("__doc__") or (module.__doc__ if module is not None else None) or ""
        return re.sub(r"\n\s*\n+", "\n\n", _MARKUP.sub("", inspect.cleandoc(text))).strip()[:_LONGEST]

    def _turn(self, actions: Mapping[int, Any]) -> Mapping[Hashable, float]:
        """Let the agent whose turn it is act, and return each agent's reward.

        The reward is what `last()` of the environment will return: `_cumulative_rewards`. An environment that never
        uses these has only `rewards`.
        """
        before, key = self._border.agents(), self._border.selected()
        self._advance(actions[self._index[key]])
        rewards = self._table("rewards")
        truncations = self._table("truncations")
        self.truncated = any(truncations.get(agent) for agent in before)
        self._settle()
        gains, self._gains = self._gains, {}
        self.truncated = self.over and self.truncated
        return gains if self._accumulates else rewards

    def _advance(self, action: Any) -> None:
        """Let the agent whose turn it is act; None removes an agent whose episode has ended.

        An agent has already received its earlier reward when its turn comes, and an agent that enters starts at zero. A
        removed agent gets nothing more.
        """
        key, players, before = self._border.selected(), self._border.agents(), self._accumulated()
        self._border.call("step", action)
        entered = {*self._border.agents()} - {*players}
        for agent, total in self._accumulated().items():
            old = before.get(agent, 0.0)
            if agent == key or (agent in entered and total != old):
                old = 0.0
            if agent != key or action is not None:
                self._gains[agent] = self._gains.get(agent, 0.0) + total - old

    def _accumulated(self) -> dict[Hashable, float]:
        found = self._border.table("step", "rewards", getattr(self._env, "_cumulative_rewards", None) or {})
        self._accumulates |= any(found.values())
        return found

    def _settle(self) -> None:
        """Update all observations, and remove agents whose episode has ended; their last observation shows its end."""
        left = 0
        while agents := self._border.agents():
            seen = {key: self._border.call("observe", key) for key in agents}
            self._look("observe", self._border.table("observe", "observations", seen), self._table("infos"))
            key, truncations = self._border.selected(), self._table("truncations")
            if not (self._table("terminations").get(key) or truncations.get(key)):
                return
            self.truncated |= truncations.get(key, False)
            self._advance(None)
            left += 1
            if key in self._border.agents() or left > _MOST_LEAVING:
                raise self._border.wrong("step", f"step(None) does not remove {key}, whose episode has ended")
        self.over, self.legal = True, [None] * len(self.names)

    def _table(self, name: str) -> dict[Hashable, Any]:
        return self._border.table("step", name, self._border.attribute(name))

    def _look(self, function: str, observations: Mapping[Any, Any], infos: Mapping[Any, Any]) -> None:
        for key, seen in observations.items():
            mask = seen.get("action_mask") if isinstance(seen, Mapping) else None
            if mask is None:
                mask = infos.get(key, {}).get("action_mask")
            agent = self._index[key]
            self.observations[agent] = seen
            try:
                self.legal[agent] = legal_of(self.spaces[agent], mask)
            except ValueError as error:
                raise self._border.wrong(function, f"the action_mask of {key}: {error}") from error

    def _indices(self, keys: Iterable[Hashable]) -> list[int]:
        return [self._index[key] for key in keys]


def _makers(make: Callable[..., Any], kwargs: Mapping[str, Any]) -> list[Callable[[], Any]]:
    """Return the ways to make an environment, best first: rendering pictures, then without rendering."""
    plain = partial(make, **kwargs)
    try:
        parameters = inspect.signature(make).parameters.values()
    except (TypeError, ValueError):
        return [plain]
    takes = any(own.name == "render_mode" or own.kind is own.VAR_KEYWORD for own in parameters)
    known = getattr(make, "metadata", None)  # classes have it; for functions, the environment does
    if not takes or (known is not None and _PICTURES not in _modes(make)):
        return [plain]
    return [partial(make, **kwargs, render_mode=_PICTURES), plain]


def _modes(environment: Any) -> Iterable[str]:
    metadata = getattr(environment, "metadata", None)
    return (metadata.get("render_modes") or ()) if isinstance(metadata, Mapping) else ()


def _close(env: Any, environment: str) -> None:
    try:
        env.close()
    except Exception as error:  # the played episode is complete
        place = place_in(error, environment.partition(":")[0])
        _log.warning("%s: close() failed: %s: %s%s", environment, type(error).__name__, error, place)

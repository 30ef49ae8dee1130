"""The base classes of the worlds' PettingZoo environments."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, Literal, TypeVar

import numpy as np
import numpy.typing as npt
from gymnasium import Space
from gymnasium.utils.seeding import np_random
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]  # PettingZoo ships no types

from quorum_base.environments.arguments import agent_name, no_render_mode, one_of, seed_number
from quorum_base.environments.errors import EpisodeError

RenderMode = Literal["human", "ansi", "rgb_array"]
RETURNED: tuple[RenderMode, ...] = ("ansi", "rgb_array")
"""Render modes in which `render()` returns text or a picture: the modes of batches and teams."""
RENDER_MODES: tuple[RenderMode, ...] = ("human", *RETURNED)
InfoKind = Literal["none", "plain", "symbolic"]
INFOS: tuple[InfoKind, ...] = ("none", "plain", "symbolic")
"""Contents of the infos: nothing, numbers and arrays, or descriptions for a person or a language model."""

Observations = dict[str, Any]
Infos = dict[str, dict[str, Any]]
Step = tuple[Observations, dict[str, float], dict[str, bool], dict[str, bool], Infos]

_Seen = TypeVar("_Seen", bound=Space[Any])
_Acts = TypeVar("_Acts", bound=Space[Any])
_Array = TypeVar("_Array", bound=npt.NDArray[Any])


def read_only(array: _Array) -> _Array:
    """Return a view that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def metadata(name: str, fps: int) -> dict[str, Any]:
    """Return the metadata of an environment: its name, its render modes, and the frames per second of a film."""
    return {"name": name, "render_modes": list(RENDER_MODES), "render_fps": fps, "is_parallelizable": True}


def batch_metadata(env: type[ParallelEnv] | ParallelEnv) -> dict[str, Any]:
    """Return the metadata of an environment for its batches and teams, which do not write to the terminal."""
    return {**env.metadata, "render_modes": list(RETURNED)}


class WorldEnv(ParallelEnv[str, Any, Any], ABC, Generic[_Seen, _Acts]):  # type: ignore[misc]
    """A parallel environment whose agents share an observation space and have action spaces of one kind.

    Args:
        n: Number of agents.
        observation_space: The space of an agent's observation, one object for all agents.
        action_space: Makes one agent's action space. Each agent has its own, since sampling advances its random state.
        render_mode: What `render()` returns: one of `RENDER_MODES`, or None.
        infos: Contents of the infos: one of `INFOS`.
        copy: Give the caller its own arrays; otherwise they are read-only.

    Raises:
        WorldError: The render mode or the kind of infos is unknown.
    """

    report: Any = None
    """Report of the last step; None before the first step of an episode."""

    def __init__(
        self,
        n: int,
        observation_space: _Seen,
        action_space: Callable[[], _Acts],
        *,
        render_mode: RenderMode | None,
        infos: InfoKind,
        copy: bool,
    ) -> None:
        self.possible_agents = [agent_name(i) for i in range(n)]
        self.agents: list[str] = []
        self.observation_spaces = dict.fromkeys(self.possible_agents, observation_space)
        self.action_spaces = {name: action_space() for name in self.possible_agents}
        self.render_mode = one_of("render_mode", render_mode, (*RENDER_MODES, None))
        self.info_kind = one_of("infos", infos, INFOS)
        self.copy = copy

    def observation_space(self, agent: str) -> _Seen:
        """The space of an agent's observation, one object for all agents."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> _Acts:
        """The space of an agent's actions."""
        return self.action_spaces[agent]

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """The world as text, or as an image, uint8 `(height, width, 3)`, by `render_mode`.

        With `"human"` it writes the text to the terminal and returns None; each reset and step do so by themselves.

        Raises:
            WorldError: The environment was made without a render mode.
            EpisodeError: The environment has not been reset yet.
        """
        if self.render_mode is None:
            raise no_render_mode(self)
        if self.render_mode == "human":
            self._show()
            return None
        return self._text() if self.render_mode == "ansi" else self._image()

    @abstractmethod
    def _text(self) -> str:
        """The world as text."""

    @abstractmethod
    def _image(self) -> npt.NDArray[np.uint8]:
        """The world as an image."""

    def _show(self) -> None:
        """In the mode `"human"`, write the world to the terminal. Called after every reset and step."""
        if self.render_mode == "human":
            sys.stdout.write(f"{self._text().rstrip()}\n\n")

    def _require_running(self) -> None:
        if not self.agents:
            raise EpisodeError("no episode is running: call reset() to start one")


class SharedRewardEnv(WorldEnv[_Seen, _Acts]):
    """A `WorldEnv` whose agents all act in every step, get the same reward, and end together."""

    _seeded = staticmethod(lambda seed: np_random(seed)[0])
    """Starts the random stream of episodes from a seed."""
    _generator: np.random.Generator | None = None

    def _stream(self, seed: object) -> np.random.Generator:
        """Return the random stream of episodes, which a seed restarts; without one, the first is a random stream."""
        number = seed_number(seed)
        if number is not None or self._generator is None:
            self._generator = self._seeded(number)
        return self._generator

    def _started(self) -> tuple[Observations, Infos]:
        """The return value of `reset`."""
        self.agents = self.possible_agents[:]
        self._show()
        return self._observations(), self._infos()

    @abstractmethod
    def symbolic_observation(self, index: int | None) -> Any:
        """An agent's observation for planning; for None, that of a participant outside the world."""

    @abstractmethod
    def _observations(self) -> Observations:
        """The observations of all agents."""

    def _masked(self, seen: npt.NDArray[Any], masks: npt.NDArray[np.int8]) -> Observations:
        """Observations with action masks, by agent name; each array has one row per agent."""
        if not self.copy:
            seen.flags.writeable = masks.flags.writeable = False
        rows = zip(self.possible_agents, seen, masks, strict=True)
        return {name: {"observation": own, "action_mask": mask} for name, own, mask in rows}

    @abstractmethod
    def _plain_infos(self) -> Infos:
        """The infos of all agents as numbers and arrays."""

    def _infos(self) -> Infos:
        if self.info_kind == "plain":
            return self._plain_infos()
        if self.info_kind == "none":
            return {name: {} for name in self.possible_agents}
        return {
            name: {"symbolic": self.symbolic_observation(index), "report": self.report}
            for index, name in enumerate(self.possible_agents)
        }

    def _stepped(self, reward: float, *, terminated: bool, truncated: bool) -> Step:
        """The return value of `step`."""
        self._show()
        names = self.possible_agents
        return (
            self._observations(),
            dict.fromkeys(names, reward),
            dict.fromkeys(names, terminated),
            dict.fromkeys(names, truncated),
            self._infos(),
        )

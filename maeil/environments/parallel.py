"""What the PettingZoo environments of the worlds share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Literal, TypeVar

import numpy.typing as npt
from gymnasium import Space
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]  # PettingZoo ships no types

from maeil.environments.arguments import agent_name

RenderMode = Literal["ansi", "rgb_array"]
RENDER_MODES: tuple[RenderMode, ...] = ("ansi", "rgb_array")
InfoKind = Literal["none", "plain", "symbolic"]
INFOS: tuple[InfoKind, ...] = ("none", "plain", "symbolic")
"""What infos hold: nothing, numbers and arrays, or what a person or a language model reads."""

_Seen = TypeVar("_Seen", bound=Space[Any])
_Acts = TypeVar("_Acts", bound=Space[Any])
_Array = TypeVar("_Array", bound=npt.NDArray[Any])


def read_only(array: _Array) -> _Array:
    """Return a view that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def given(array: _Array, *, copy: bool) -> _Array:
    """Return a copy of an array, or a view that cannot be written to."""
    return array.copy() if copy else read_only(array)


class WorldEnv(ParallelEnv[str, Any, Any], Generic[_Seen, _Acts]):  # type: ignore[misc]
    """A parallel environment of agents that all see the same space and have action spaces of one kind.

    Args:
        n: Number of agents.
        observation_space: The space of an agent's observation, one object for all agents.
        action_space: Makes the space of an agent's actions: sampling from one must not shift another.
    """

    def __init__(self, n: int, observation_space: _Seen, action_space: Callable[[], _Acts]) -> None:
        self.possible_agents = [agent_name(i) for i in range(n)]
        self.agents: list[str] = []
        self.observation_spaces = dict.fromkeys(self.possible_agents, observation_space)
        self.action_spaces = {name: action_space() for name in self.possible_agents}

    def observation_space(self, agent: str) -> _Seen:
        """The space of an agent's observation, one object for all agents."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> _Acts:
        """The space of an agent's actions."""
        return self.action_spaces[agent]

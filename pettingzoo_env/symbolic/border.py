"""The border to a third-party environment: validates all its output and converts it to one format.

Errors are `maeil.errors.ContractError`s that name the environment's file and line.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from math import isfinite
from traceback import walk_tb
from typing import Any

import numpy as np
import numpy.typing as npt

from maeil.contracts import described
from maeil.errors import ContractError
from quorum_base.user_errors import shown_path

_SIGNATURES = {
    "reset": "reset(seed=None, options=None)",
    "step": "step(actions), or step(action) if agents take turns",
    "observe": "observe(agent)",
    "action_space": "action_space(agent)",
}
_RETURNED = {
    "reset": ("observations", "infos"),
    "step": ("observations", "rewards", "terminations", "truncations", "infos"),
}
"""Results of the methods of a parallel environment, each a dict by agent."""
_OF_ALL = "__all__"
"""Team-wide key in some environments' terminations; redundant with `agents`."""
_CHANNELS = (1, 3, 4)
_LEVELS = 255


def place_in(error: BaseException, module: str) -> str:
    """Return the file and line in a module, or in its callees, that an error comes from; empty if there is none."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({shown_path(error.filename)}:{error.lineno})"
    frames = [(frame.f_globals.get("__name__", ""), frame.f_code.co_filename, line)
              for frame, line in walk_tb(error.__traceback__)]  # fmt: skip
    top = module.partition(".")[0]
    own = [(file, line) for name, file, line in frames if name.partition(".")[0] == top]
    return f" ({shown_path(own[-1][0])}:{own[-1][1]})" if own else ""


class Border:
    """The output of an environment, in one format.

    Args:
        environment: `MODULE[:FUNCTION]`, for messages.
        env: the environment.
    """

    def __init__(self, environment: str, env: Any) -> None:
        self._id, self.env = environment, env
        self._known: Sequence[Hashable] = ()

    def know(self, agents: Sequence[Hashable]) -> None:
        """Set the possible agents; output for other agents is rejected."""
        self._known = agents

    def call(self, name: str, *arguments: Any, **named: Any) -> Any:
        """Call a method of the environment.

        Raises:
            ContractError: the call fails; the cause is the original error.
        """
        try:
            return getattr(self.env, name)(*arguments, **named)
        except Exception as error:
            text = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
            if isinstance(error, TypeError) and "argument" in text and name in _SIGNATURES:
                text = f"{text}; the signature must be {_SIGNATURES[name]}"
            raise ContractError(text, self._blamed(name)) from error

    def attribute(self, name: str) -> Any:
        """Return an attribute of the environment.

        Raises:
            ContractError: the attribute is missing.
        """
        try:
            return getattr(self.env, name)
        except Exception as error:
            raise self.wrong("step", f"it has no {name} after reset(): {error}") from error

    def agents(self) -> list[Hashable]:
        """Return the agents that have not left."""
        found = self.attribute("agents")
        if not isinstance(found, Sequence | Mapping | set | np.ndarray) or isinstance(found, str):
            raise self.wrong("reset", f"agents is {described(found)}; it must be the list of the agents that play")
        agents = np.asarray(found).tolist() if isinstance(found, np.ndarray) else list(found)
        for agent in agents:
            self._check_agent("reset", agent)
        return agents

    def selected(self) -> Hashable:
        """Return the agent whose turn it is."""
        agent, agents = self.attribute("agent_selection"), self.agents()
        if agent not in agents:
            who = ", ".join(map(str, agents)) or "nobody"
            raise self.wrong("step", f"agent_selection is {agent!r}, which is not one of its agents: {who}")
        return agent  # type: ignore[no-any-return]

    def returned(self, name: str, *arguments: Any, **named: Any) -> dict[str, dict[Hashable, Any]]:
        """Call `reset` or `step` of a parallel environment; return its results, by name and agent.

        Raises:
            ContractError: the call fails, or returns something else.
        """
        given, parts = self.call(name, *arguments, **named), _RETURNED[name]
        if name == "reset" and isinstance(given, Mapping):  # only observations, without infos
            given = (given, None)
        if not isinstance(given, tuple | list) or len(given) != len(parts):
            many = f"{len(given)} values" if isinstance(given, tuple | list) else described(given)
            wanted = ", ".join(parts)
            raise self.wrong(name, f"{name}() returned {many}; it must return {len(parts)} dicts by agent: {wanted}")
        return {part: self.table(name, part, own) for part, own in zip(parts, given, strict=True)}

    def table(self, function: str, name: str, given: Any) -> dict[Hashable, Any]:
        """Return a result of an environment for each agent, in one format.

        Args:
            function: function of the environment that returned it.
            name: kind of result: a key of `_FORMS`.
            given: a dict by agent.

        Raises:
            ContractError: it is not a dict, has invalid values, or has an unknown agent.
        """
        if name == "infos" and given is None:
            return {}
        if not isinstance(given, Mapping):
            raise self.wrong(function, f"{function}() gives {described(given)} as {name}; it must be a dict by agent")
        form, what = _FORMS[name]
        found = {}
        for agent, value in given.items():
            if agent not in self._known and (name == "infos" or agent == _OF_ALL):
                continue
            self._check_agent(function, agent)
            try:
                found[agent] = form(value)
            except Exception as error:
                text = f"{function}() returned {described(value)} for {agent} in its {name}; it must be {what}"
                raise self.wrong(function, text) from error
        return found

    def picture(self) -> npt.NDArray[np.uint8]:
        """Return the environment's rendering: RGB, uint8 of shape (height, width, 3).

        Converts grey values, floats from 0 to 1, and channels-first arrays.

        Raises:
            ContractError: the environment renders no picture.
        """
        given = self.call("render")
        try:
            array = np.asarray(given)
        except Exception as error:
            raise self.wrong("render", f"render() returned {described(given)}; it must return a picture") from error
        if array.ndim == 2:
            array = array[:, :, None]
        elif array.ndim == 3 and array.shape[0] in _CHANNELS and array.shape[2] not in _CHANNELS:
            array = array.transpose(1, 2, 0)
        if array.ndim != 3 or array.shape[2] not in _CHANNELS or not array.size or array.dtype.kind not in "biuf":
            found = described(given) if array.ndim == 0 else f"an array of shape {array.shape}"
            text = f"render() returned {found}; it must return a picture, an array of shape (height, width, 3)"
            raise self.wrong("render", text)
        array = array[:, :, :3] if array.shape[2] > 1 else array.repeat(3, axis=2)
        if array.dtype.kind == "b" or (array.dtype.kind == "f" and np.nanmax(array, initial=0) <= 1):
            array = array * _LEVELS
        return np.ascontiguousarray(np.nan_to_num(array).clip(0, _LEVELS).round(), dtype=np.uint8)

    def wrong(self, function: str, text: str) -> ContractError:
        """Return the error for a function of the environment that violates its contract."""
        return ContractError(" ".join(f"env.id: {self._id}: {text}".split()), self._blamed(function))

    def _check_agent(self, function: str, agent: Hashable) -> None:
        if agent not in self._known:
            names = ", ".join(map(str, self._known))
            raise self.wrong(function, f"the agent {agent} is not among its possible_agents: {names}")

    def _blamed(self, name: str) -> Callable[..., Any]:
        """Return a method of the innermost environment; if it is from one of PettingZoo's own bases, the class."""
        try:
            kind = type(self.env.unwrapped)
        except Exception:
            kind = type(self.env)
        found = getattr(kind, name, None)
        module = inspect.getmodule(found)
        base = module is not None and module.__name__.startswith("pettingzoo.utils")
        return found if callable(found) and not base else kind


def _number(value: Any) -> float:
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "biufO" or not isfinite(number := float(array.item())):
        raise ValueError
    return number


def _truth(value: Any) -> bool:
    return bool(_number(value))


def _info(value: Any) -> Mapping[str, Any]:
    if value is not None and not isinstance(value, Mapping):
        raise ValueError
    return value or {}


def _observation(value: Any) -> Any:
    """Return an observation as arrays, in its original dicts and tuples."""
    if isinstance(value, Mapping):
        return {str(key): part if key == "action_mask" else _observation(part) for key, part in value.items()}
    if isinstance(value, tuple):
        return tuple(map(_observation, value))
    return None if value is None else np.asarray(value)


_FORMS: Mapping[str, tuple[Callable[[Any], Any], str]] = {
    "observations": (_observation, "an array, or a dict or a tuple of arrays"),
    "rewards": (_number, "one finite number"),
    "terminations": (_truth, "true or false"),
    "truncations": (_truth, "true or false"),
    "infos": (_info, "a dict"),
}

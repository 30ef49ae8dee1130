"""Checks of the arguments of environments. Each raises one error that names the argument and what it may be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from math import isfinite
from operator import index
from typing import Any, TypeVar

from quorum_base.environments.errors import EpisodeError, WorldError

_Choice = TypeVar("_Choice")
_Layout = TypeVar("_Layout")


def agent_name(index: int) -> str:
    """Name of an agent by its index."""
    return f"agent_{index}"


def whole(name: str, value: object, least: int | None = None) -> int:
    """Return an integer, Python's or NumPy's; floats and strings are refused, not rounded.

    Args:
        name: Name of the argument.
        value: What the caller gave.
        least: The smallest value allowed; None for no bound.

    Raises:
        WorldError: It is no integer, or too small.
    """
    try:
        number = index(value)  # type: ignore[arg-type] # a value without an index is refused below
    except TypeError:
        number = None
    if number is None or (least is not None and number < least):
        bound = "" if least is None else f" of at least {least}"
        raise WorldError(f"{name} = {value!r}: give an integer{bound}")
    return number


def finite(name: str, value: float) -> float:
    """Return a finite number.

    Raises:
        WorldError: It is not one.
    """
    try:
        if isfinite(value):
            return float(value)
    except TypeError:
        pass
    raise WorldError(f"{name} = {value!r}: give a finite number")


def one_of(name: str, value: _Choice, choices: Iterable[_Choice]) -> _Choice:
    """Return a value that is one of some choices.

    Raises:
        WorldError: It is not; the message lists them.
    """
    offered = tuple(choices)
    if value not in offered:
        raise WorldError(f"{name} = {value!r}: choose one of {', '.join(map(repr, offered))}")
    return value


def seed_number(seed: object, least: int | None = 0) -> int | None:
    """Return a seed as an integer; None stays None.

    Raises:
        WorldError: It is no integer, or below `least`.
    """
    return None if seed is None else whole("seed", seed, least)


def layout_option(options: Mapping[str, Any] | None, kind: type[_Layout]) -> _Layout | None:
    """Return the layout among the options of a reset, if there is one.

    Raises:
        WorldError: A misspelt key, or no layout.
    """
    options = options or {}
    for key in options:
        # PettingZoo's own test passes a foreign option, so only what looks like a misspelling is refused.
        if key != "layout" and get_close_matches(key, ["layout"]):
            raise WorldError(f'unknown option {key!r} of reset: did you mean "layout"?')
    layout = options.get("layout")
    if layout is not None and not isinstance(layout, kind):
        raise WorldError(f'options["layout"] is a {type(layout).__name__}: give a Layout (Layout.parse reads text)')
    return layout


def no_render_mode(env: object) -> WorldError:
    """Return the error of an environment that was made without a render mode."""
    return WorldError(
        f'this environment has no render mode: make it with {type(env).__name__}(..., render_mode="rgb_array")'
    )


def no_state() -> EpisodeError:
    """Return the error of an environment that has not been reset yet."""
    return EpisodeError("there is no state before the first reset: call reset(seed=...) first")


def parts(place: str, value: object, known: Iterable[str] | None = None) -> Mapping[str, Any]:
    """Return an object with names that a change from outside gives.

    Args:
        place: Where it stands, such as `agents.agent_0`; empty for the whole.
        value: What was given.
        known: The names that there may be; None for any.

    Raises:
        WorldError: It is no such object, or has an unknown name; the message names the place.
    """
    if not isinstance(value, Mapping):
        raise WorldError(f"{place}: {value!r} is no object with names")
    choices = tuple(known) if known is not None else tuple(value)
    for name in value:
        if name not in choices:
            where = f"{place}.{name}" if place else name
            raise WorldError(f"{where}: it cannot be changed; you can change {', '.join(choices)}")
    return value


def whole_pair(place: str, value: object, names: str) -> tuple[int, int]:
    """Return two integers that a change from outside gives.

    Args:
        place: Where they stand.
        value: What was given.
        names: What they are: `[row, column]`.

    Raises:
        WorldError: They are not that; the message names the place.
    """
    if not isinstance(value, list | tuple) or len(value) != 2 or not all(type(part) is int for part in value):
        raise WorldError(f"{place}: {value!r} is no cell: give {names}")
    return value[0], value[1]

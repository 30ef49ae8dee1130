"""Checks of the arguments of environments. Each error names the argument and the allowed values."""

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
    """Return a Python or NumPy integer as an `int`. Floats and strings are rejected, not converted.

    Args:
        name: Name of the argument.
        value: The caller's value.
        least: The smallest value allowed; None for no bound.

    Raises:
        WorldError: It is not an integer, or too small.
    """
    try:
        number = index(value)  # type: ignore[arg-type] # the error below rejects what is not an integer
    except TypeError:
        number = None
    if number is None or (least is not None and number < least):
        bound = "" if least is None else f" of at least {least}"
        raise WorldError(f"{name} = {value!r}: give an integer{bound}")
    return number


def finite(name: str, value: float) -> float:
    """Return a number as a float, if it is finite.

    Raises:
        WorldError: It is not a finite number.
    """
    try:
        if isfinite(value):
            return float(value)
    except TypeError:
        pass
    raise WorldError(f"{name} = {value!r}: give a finite number")


def one_of(name: str, value: _Choice, choices: Iterable[_Choice]) -> _Choice:
    """Return a value if it is one of the choices.

    Raises:
        WorldError: It is not; the message lists the choices.
    """
    offered = tuple(choices)
    if value not in offered:
        raise WorldError(f"{name} = {value!r}: choose one of {', '.join(map(repr, offered))}")
    return value


def seed_number(seed: object, least: int | None = 0) -> int | None:
    """Return a seed as an integer; None stays None.

    Raises:
        WorldError: It is not an integer, or below `least`.
    """
    return None if seed is None else whole("seed", seed, least)


def layout_option(options: Mapping[str, Any] | None, kind: type[_Layout]) -> _Layout | None:
    """Return the layout from the options of a reset; None if they have none.

    Raises:
        WorldError: A key looks like a misspelled `layout`, or the value is not a layout.
    """
    options = options or {}
    for key in options:
        # PettingZoo's own test passes an unrelated option, so only probable misspellings are rejected.
        if key != "layout" and get_close_matches(key, ["layout"]):
            raise WorldError(f'unknown option {key!r} of reset: did you mean "layout"?')
    layout = options.get("layout")
    if layout is not None and not isinstance(layout, kind):
        raise WorldError(f'options["layout"] is a {type(layout).__name__}: give a Layout (Layout.parse reads text)')
    return layout


def no_render_mode(env: object) -> WorldError:
    """Return the error for rendering an environment that was made without a render mode."""
    return WorldError(
        f'this environment has no render mode: make it with {type(env).__name__}(..., render_mode="rgb_array")'
    )


def no_state() -> EpisodeError:
    """Return the error for using an environment before its first reset."""
    return EpisodeError("there is no state before the first reset: call reset(seed=...) first")


def parts(place: str, value: object, known: Iterable[str] | None = None) -> Mapping[str, Any]:
    """Return a JSON object from an external change, after checking its keys.

    Args:
        place: Path of the object within the change, such as `agents.agent_0`; empty for the whole change.
        value: The value at that path.
        known: The allowed keys; None for any.

    Raises:
        WorldError: It is not an object, or has an unknown key; the message names the path.
    """
    if not isinstance(value, Mapping):
        raise WorldError(f"{place}: {value!r} is not an object of names and values")
    choices = tuple(known) if known is not None else tuple(value)
    for name in value:
        if name not in choices:
            where = f"{place}.{name}" if place else name
            raise WorldError(f"{where}: it cannot be changed; you can change {', '.join(choices)}")
    return value


def whole_pair(place: str, value: object, names: str) -> tuple[int, int]:
    """Return a pair of integers from an external change.

    Args:
        place: Path of the pair within the change.
        value: The value at that path.
        names: What the pair stands for: `[row, column]`.

    Raises:
        WorldError: It is not a pair of integers; the message names the path.
    """
    if not isinstance(value, list | tuple) or len(value) != 2 or not all(type(part) is int for part in value):
        raise WorldError(f"{place}: {value!r} is not a cell: give {names}")
    return value[0], value[1]

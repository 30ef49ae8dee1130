"""The checks of arguments: what is not what it should be is one error that names it."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from operator import index
from typing import TypeVar

from cube_env.errors import CubeError

_Choice = TypeVar("_Choice")


def whole(name: str, value: object, least: int) -> int:
    """An integer, of Python or NumPy, that is at least `least`.

    Raises:
        CubeError: It is not.
    """
    try:
        number = index(value)  # type: ignore[arg-type] # what it raises is what is asked for
    except TypeError:
        number = None
    if number is None or number < least:
        raise CubeError(f"{name} = {value!r}: give an integer from {least} on")
    return number


def finite(name: str, value: float) -> float:
    """A finite number.

    Raises:
        CubeError: It is not.
    """
    try:
        if isfinite(value):
            return float(value)
    except TypeError:
        pass
    raise CubeError(f"{name} = {value!r}: give a finite number")


def one_of(name: str, value: _Choice, choices: Iterable[_Choice]) -> _Choice:
    """One of some choices.

    Raises:
        CubeError: It is not; the message lists them.
    """
    offered = tuple(choices)
    if value not in offered:
        raise CubeError(f"{name} = {value!r}: choose one of {', '.join(map(repr, offered))}")
    return value


def seed_number(seed: object) -> int | None:
    """A seed as the integer that Gymnasium's generators take; None stays None.

    Raises:
        CubeError: It is not an integer from 0 on.
    """
    return None if seed is None else whole("seed", seed, 0)

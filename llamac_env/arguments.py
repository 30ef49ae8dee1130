"""The checks of arguments: what is not what it should be is one error that names it."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import TypeVar

from llamac_env.errors import LlamacError

_Choice = TypeVar("_Choice")

INFOS = ("none", "plain", "symbolic")
"""What infos hold: nothing, numbers, or what a person or a language model reads."""


def whole(name: str, value: object, least: int) -> int:
    """An integer, of Python or NumPy, that is at least `least`; nothing is cut to fit.

    Raises:
        LlamacError: It is not.
    """
    try:
        number = index(value)  # type: ignore[arg-type] # what has no index is refused below
    except TypeError:
        number = None
    if number is None or number < least:
        raise LlamacError(f"{name} = {value!r}: give an integer of at least {least}")
    return number


def one_of(name: str, value: _Choice, choices: Iterable[_Choice]) -> _Choice:
    """One of some choices.

    Raises:
        LlamacError: It is none of them; the message lists them.
    """
    offered = tuple(choices)
    if value not in offered:
        raise LlamacError(f"{name} = {value!r}: choose one of {', '.join(map(str, offered))}")
    return value

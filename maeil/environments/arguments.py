"""Checks of the arguments of environments. Each raises one error that names the argument and what it may be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from math import isfinite
from operator import index
from typing import Any, TypeVar, cast

import numpy as np
from gymnasium.vector import AutoresetMode

from maeil.environments.errors import EpisodeError, WorldError

_Choice = TypeVar("_Choice")
_Layout = TypeVar("_Layout")

AUTORESET_MODES = {mode.value: mode for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP)}


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


def batch_seeds(seed: object, num_envs: int, least: int | None = 0) -> list[int | None]:
    """Return one seed for each world of a batch: the one given for it, or `seed + i`.

    Raises:
        WorldError: A seed is no integer, or below `least`; or there are more or fewer seeds than worlds.
    """
    if np.ndim(seed) == 0:  # type: ignore[arg-type] # None is allowed for here
        first = seed_number(seed, least)
        return [None if first is None else first + world for world in range(num_envs)]
    seeds = [seed_number(number, least) for number in cast("Sequence[object]", seed)]
    if len(seeds) != num_envs:
        raise WorldError(f"{len(seeds)} seeds for {num_envs} worlds: give one number, or one for each world")
    return seeds


def autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """Return one of the two of Gymnasium's modes that the batches know, also by its name.

    Raises:
        WorldError: It is another.
    """
    name = mode.value if isinstance(mode, AutoresetMode) else mode
    return AUTORESET_MODES[one_of("autoreset_mode", name, AUTORESET_MODES)]


def no_options(options: Mapping[str, Any] | None) -> None:
    """Refuse options of the reset of a batch.

    Raises:
        WorldError: There are some.
    """
    if options:
        raise WorldError(f"reset of a batch takes no options, it was given {', '.join(map(repr, options))}")


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

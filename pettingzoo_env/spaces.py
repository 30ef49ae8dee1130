"""Spaces of Gymnasium as plain data: types of actions, actions from values and back, observations by their parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Annotated, Any

import numpy as np
from gymnasium import spaces
from pydantic import ConfigDict, Field, create_model

from pettingzoo_env.description import Parts

MOST = 512
"""Numbers of an array that an observation shows; of a larger one it says the shape."""
_LIMIT = 1e9
"""A bound beyond it is none."""


def value_type(space: Any, place: str) -> Any:
    """Return the type of the JSON values that stand for the actions of a space.

    Raises:
        ValueError: there are none for such a space.
    """
    match space:
        case spaces.Discrete():
            return Annotated[int, Field(ge=int(space.start), le=int(space.start + space.n) - 1)]
        case spaces.Box() | spaces.MultiDiscrete() | spaces.MultiBinary():
            low, high = _bounds(space)
            bounds = {"ge": float(low.min()), "le": float(high.max())}
            kind: Any = float if np.issubdtype(space.dtype, np.floating) else int
            finite = {key: kind(bound) for key, bound in bounds.items() if abs(bound) < _LIMIT}
            size = int(np.prod(space.shape))
            return Annotated[list[Annotated[kind, Field(**finite)]], Field(min_length=size, max_length=size)]
        case spaces.Tuple() | spaces.Dict():
            fields: dict[str, Any] = {name: (value_type(part, f"{place}.{name}"), ...) for name, part in _parts(space)}
            config = ConfigDict(frozen=True, extra="forbid")
            return create_model(f"Values_{place}".replace(".", "_"), __config__=config, **fields)
    known = "Discrete, Box, MultiDiscrete, MultiBinary, and Tuple and Dict of these"
    raise ValueError(f"id: {place} has the action space {type(space).__name__}; those that plans can write are {known}")


def action_of(space: Any, value: Any) -> Any:
    """Return the action of a space that a value stands for.

    Raises:
        ValueError: the space does not have it.
    """
    match space:
        case spaces.Discrete():
            action = space.dtype.type(value)
        case spaces.Tuple():
            action = tuple(action_of(part, value[name]) for name, part in _parts(space))
        case spaces.Dict():
            action = {key: action_of(part, value[str(key)]) for key, part in space.spaces.items()}
        case _:
            action = np.array(value, dtype=space.dtype).reshape(space.shape)
    if not space.contains(action):
        raise ValueError(f"{value} is not in {space}")
    return action


def neutral(space: Any) -> Any:
    """Return the value that stands for doing nothing: zeros, as far as the space has them."""
    match space:
        case spaces.Discrete():
            return int(space.start)
        case spaces.Tuple() | spaces.Dict():
            return {name: neutral(part) for name, part in _parts(space)}
    low, high = _bounds(space)
    return np.clip(np.zeros(space.shape), low, high).astype(space.dtype).ravel().tolist()


def _bounds(space: Any) -> tuple[Any, Any]:
    if isinstance(space, spaces.Box):
        return space.low, space.high
    start = getattr(space, "start", np.zeros(space.shape))
    width = space.nvec if isinstance(space, spaces.MultiDiscrete) else np.full(space.shape, 2)
    return start, start + width - 1


def _parts(space: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(space, spaces.Dict):
        yield from ((str(key), part) for key, part in space.spaces.items())
    else:
        yield from ((f"part_{index}", part) for index, part in enumerate(space.spaces))


def split(observation: Any, described: Mapping[str, int | Sequence[str]]) -> dict[str, Any]:
    """Return the parts of an observation: arrays by name, the mask of actions left out.

    Args:
        observation: of an environment; None for none.
        described: the parts of its array, in order; empty for a whole array.
    """
    if isinstance(observation, tuple):
        observation = {f"part_{index}": part for index, part in enumerate(observation)}
    if isinstance(observation, Mapping):
        found = split(observation.get("observation"), described)
        others = {str(key): part for key, part in observation.items() if key not in ("observation", "action_mask")}
        parts = {
            key + name.removeprefix("observation"): p for key, o in others.items() for name, p in split(o, {}).items()
        }
        return found | parts
    if observation is None or not described:
        return {} if observation is None else {"observation": np.asarray(observation)}
    sizes = [form if isinstance(form, int) else len(form) for form in described.values()]
    flat = np.asarray(observation).ravel()
    if sum(sizes) != flat.size:
        raise ValueError(f"it has {flat.size} numbers, and its parts have {sum(sizes)} together")
    return dict(zip(described, np.split(flat, np.cumsum(sizes)[:-1]), strict=True))


def numbers(parts: Mapping[str, Any]) -> Parts:
    """Return the numbers of each part of an observation."""
    found = {name: array for name, array in parts.items() if array.size <= MOST and array.dtype.kind in "biuf"}
    return {name: tuple(map(float, array.ravel())) for name, array in found.items()}


def shown(parts: Mapping[str, Any], described: Mapping[str, int | Sequence[str]]) -> dict[str, Any]:
    """Return an observation JSON-ready: numbers to four digits, of large arrays the shape."""
    found: dict[str, Any] = {}
    for name, array in parts.items():
        form, value = described.get(name), short(array.tolist()) if array.size <= MOST else None
        if value is None:
            found[name] = f"an array of shape {'x'.join(map(str, array.shape))}"
        else:
            named = dict(zip(form, value, strict=True)) if isinstance(form, list) else value
            found[name] = value[0] if form == 1 else named
    return found


def short(value: Any) -> Any:
    """Return a value JSON-ready, its numbers to four digits; None for what is no number."""
    if isinstance(value, list):
        return [short(part) for part in value]
    if isinstance(value, float):
        rounded = float(f"{value:.4g}") if isfinite(value) else None
        return int(rounded) if rounded is not None and rounded.is_integer() and abs(rounded) < _LIMIT else rounded
    return value if isinstance(value, bool | int | str | None) else str(value)

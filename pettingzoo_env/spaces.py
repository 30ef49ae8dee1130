"""Gymnasium spaces as plain data: types of actions, actions from and to values, observations by part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pydantic import ConfigDict, Field, create_model

from pettingzoo_env.description import Parts

MOST = 512
"""Maximum array size that an observation shows; of a larger array it shows the shape."""
_LIMIT = 1e9
"""A bound beyond this value counts as unbounded."""


def value_type(space: Any, place: str) -> Any:
    """Return the type of the JSON values that represent the actions of a space.

    Raises:
        ValueError: the space is not supported.
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
    raise ValueError(f"id: {place} has the action space {type(space).__name__}; plans can only use {known}")


def action_of(space: Any, value: Any) -> Any:
    """Return the action of a space that a value represents.

    Raises:
        ValueError: the space does not contain it.
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


def neutral(space: Any, legal: Any = None) -> Any:
    """Return the value for doing nothing: zeros, or the nearest values that are in the space and legal.

    Args:
        space: the agent's action space.
        legal: its legal actions, in the format of `legal_of`.
    """
    match space:
        case spaces.Discrete():
            return _nearest(int(space.start), legal)
        case spaces.Tuple() | spaces.Dict():
            return {name: neutral(part, (legal or {}).get(name)) for name, part in _parts(space)}
    low, high = _bounds(space)
    values = np.clip(np.zeros(space.shape), low, high).astype(space.dtype).ravel().tolist()
    return values if legal is None else [*map(_nearest, values, legal)]


def _nearest(value: int, legal: Sequence[int] | None) -> int:
    return value if not legal or value in legal else legal[0]


def legal_of(space: Any, mask: Any) -> Any:
    """Return the actions that a mask allows; masks have Gymnasium's format of `space.sample(mask=...)`.

    Returns:
        For a `Discrete` space, the legal choices; for `MultiDiscrete` or `MultiBinary`, the legal values of each
        number, None if all are legal; for `Dict` or `Tuple`, the same for each part, by name. None if everything is
        legal, or if nothing is, because the agent is off turn.

    Raises:
        ValueError: the mask has another format; the message names it.
    """
    if mask is None:
        return None
    match space:
        case spaces.Discrete():
            return _allowed(mask, int(space.start), int(space.n))
        case spaces.MultiDiscrete():
            starts, sizes = space.start.ravel().tolist(), space.nvec.ravel().tolist()
            masks = _flat(mask, space.nvec.ndim)
            if len(masks) != len(sizes):
                raise ValueError(f"{_form(mask)} is not a mask of {space}: it must be a tuple of {len(sizes)} masks")
            return _unless_free([*map(_allowed, masks, starts, sizes)])
        case spaces.MultiBinary():
            array = np.asarray(mask)
            if array.shape != space.shape or not np.isin(array, (0, 1, 2)).all():
                raise ValueError(f"{_form(mask)} is not a mask of {space}: it needs its shape, and 0, 1 or 2 for both")
            return _unless_free([None if value == 2 else [int(value)] for value in array.ravel()])
        case spaces.Tuple() | spaces.Dict():
            parts = dict(_parts(space))
            given = {f"part_{index}": own for index, own in enumerate(mask)} if isinstance(mask, tuple | list) else mask
            if not isinstance(given, Mapping) or {*map(str, given)} - parts.keys():
                raise ValueError(f"{_form(mask)} is not a mask of {space}: it must have a mask for each part")
            named = {str(key): own for key, own in given.items()}
            found = {name: legal_of(part, named.get(name)) for name, part in parts.items()}
            return {name: own for name, own in found.items() if own is not None} or None
    raise ValueError(f"{_form(mask)} is for {space}, which has no masks: leave it out")


def _allowed(mask: Any, start: int, size: int) -> list[int] | None:
    array = np.asarray(mask)
    if array.shape != (size,) or not np.isin(array, (0, 1)).all():
        raise ValueError(f"{_form(mask)} is not a mask of {size} choices: it must hold {size} zeros and ones")
    return [start + index for index, own in enumerate(array.tolist()) if own] or None


def _flat(mask: Any, depth: int) -> list[Any]:
    """Return the masks in nested tuples, as deep as the array of a `MultiDiscrete` space."""
    if not depth:
        return [mask]
    parts = mask if isinstance(mask, tuple | list) or getattr(mask, "ndim", 0) > 1 else ()
    return [own for part in parts for own in _flat(part, depth - 1)]


def _unless_free(legal: list[Any]) -> list[Any] | None:
    return legal if any(own is not None for own in legal) else None


def _form(mask: Any) -> str:
    shape = getattr(mask, "shape", None)
    return f"an array of shape {shape}" if shape is not None else f"a {type(mask).__name__}, {mask}"


def illegal(value: Any, legal: Any) -> Any:
    """Return a part of a value that is not legal; None if all are.

    Args:
        value: value of an action.
        legal: the result of `legal_of`.
    """
    if legal is None:
        return None
    if isinstance(legal, Mapping):
        found = ((name, illegal(value[name], own)) for name, own in legal.items())
        return next((f"{name}: {part}" for name, part in found if part is not None), None)
    if not isinstance(value, list | tuple):
        return None if value in legal else value
    wrong = (index for index, own in enumerate(legal) if own is not None and value[index] not in own)
    return next((f"{value[index]} at {index}" for index in wrong), None)


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


def split(observation: Any, described_parts: Mapping[str, int | Sequence[str]]) -> dict[str, npt.NDArray[Any]]:
    """Return the parts of an observation: arrays by name, without the action mask.

    Nested parts have dotted names, `arm.joint`; a nested part `observation` is left out of the name.

    Args:
        observation: observation of an environment, as its border returns it; None for none.
        described_parts: the parts of its array, in order; empty for a whole array.

    Raises:
        ValueError: the length of its array differs from that of these parts.
    """
    if isinstance(observation, Mapping):
        given = {key: part for key, part in observation.items() if key != "action_mask"}
        own = split(given.pop("observation", None), described_parts)
        others = dict(_leaves(given))
        return {f"observation.{name}" if name in others else name: array for name, array in own.items()} | others
    if isinstance(observation, tuple):
        return dict(_leaves(observation))
    if observation is None or not described_parts:
        return {} if observation is None else {"observation": observation}
    sizes = [form if isinstance(form, int) else len(form) for form in described_parts.values()]
    flat = observation.ravel()
    if sum(sizes) != flat.size:
        raise ValueError(f"it has {flat.size} numbers, but its described parts have {sum(sizes)} in total")
    return dict(zip(described_parts, np.split(flat, np.cumsum(sizes)[:-1]), strict=True))


def _leaves(nested: Any, name: str = "") -> Iterator[tuple[str, npt.NDArray[Any]]]:
    if isinstance(nested, tuple):
        nested = {f"part_{index}": part for index, part in enumerate(nested)}
    if not isinstance(nested, Mapping):
        if nested is not None:
            yield name, nested
        return
    for key, part in nested.items():
        yield from _leaves(part, f"{name}.{key}" if name else str(key))


def exact(array: npt.NDArray[Any]) -> Any:
    """Return an array in a form that is equal only for equal arrays."""
    values = repr(array.tolist()) if array.dtype.hasobject else array.tobytes()
    return array.shape, array.dtype.str, values


def numbers(parts: Mapping[str, Any]) -> Parts:
    """Return the numbers of each part of an observation."""
    found = {name: array for name, array in parts.items() if array.size <= MOST and array.dtype.kind in "biuf"}
    return {name: tuple(map(float, array.ravel())) for name, array in found.items()}


def shown(parts: Mapping[str, Any], described_parts: Mapping[str, int | Sequence[str]]) -> dict[str, Any]:
    """Return an observation JSON-ready: numbers to four digits, large arrays as shapes."""
    found: dict[str, Any] = {}
    for name, array in parts.items():
        form, value = described_parts.get(name), short(array.tolist()) if array.size <= MOST else None
        if value is None:
            found[name] = f"an array of shape {'x'.join(map(str, array.shape))}"
        else:
            named = dict(zip(form, value, strict=True)) if isinstance(form, list) else value
            found[name] = value[0] if form == 1 else named
    return found


def short(value: Any) -> Any:
    """Return a value JSON-ready, its numbers to four digits; None if it is not a number."""
    if isinstance(value, list):
        return [short(part) for part in value]
    if isinstance(value, float):
        rounded = float(f"{value:.4g}") if isfinite(value) else None
        return int(rounded) if rounded is not None and rounded.is_integer() and abs(rounded) < _LIMIT else rounded
    return value if isinstance(value, bool | int | str | None) else str(value)

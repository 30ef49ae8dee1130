"""The points of a grid: expands Hydra's sweep grammar into one value per key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import ceil, prod
from typing import Any

from hydra.core.override_parser.types import Glob, Override, RangeSweep, ValueType

from quorum.configuration.compose import Composer
from quorum.configuration.overrides import parse
from quorum.configuration.team_label import team_label
from quorum_base.user_errors import UserError, choices_hint

MOST_POINTS = 1_000_000
"""Maximum points of a grid; a larger grid is assumed to be a mistake."""

Point = tuple[Override, ...]
"""Overrides with one value each, in the order in which they were written."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One expanded argument.

    Attributes:
        key: the key or group that it sets.
        values: one override for each value.
        swept: whether the argument is a sweep, even over a single value.
    """

    key: str
    values: tuple[Override, ...]
    swept: bool

    @property
    def text(self) -> str:
        """Return the argument in `KEY=VALUES` form."""
        first = (self.values[0].input_line or "").partition("=")[0]
        return f"{first}={','.join((value.input_line or '').partition('=')[2] for value in self.values)}"


def axes(arguments: Sequence[str], composer: Composer) -> tuple[Axis, ...]:
    """Parse `KEY=VALUES` arguments.

    Args:
        arguments: arguments in Hydra's override grammar, including sweeps.
        composer: resolves group options for `glob`.

    Raises:
        UserError: an argument cannot be parsed, names no value, or is not allowed in a sweep.
    """
    return tuple(_axis(override, composer) for override in parse(arguments))


def _axis(override: Override, composer: Composer) -> Axis:
    key = override.key_or_group
    if not override.is_sweep_override():
        return Axis(key, (override,), swept=False)
    _refuse_long(override)
    try:
        values = list(_elements(override, composer))
    except ValueError as error:
        raise UserError(f"{override.input_line}: {error}") from error
    if not values:
        raise UserError(
            f"{override.input_line}: this names no value, so the grid is empty",
            "range(start,stop,step) ends before stop; quorum list GROUP shows what glob() can match.",
        )
    return Axis(key, tuple(values), swept=True)


def _refuse_long(override: Override) -> None:
    """Reject a range with more values than a grid may have points, without enumerating it."""
    swept = override.value()
    if not isinstance(swept, RangeSweep) or swept.start is None or swept.stop is None or not swept.step:
        return
    number = (swept.stop - swept.start) / swept.step
    if number > MOST_POINTS:
        raise UserError(
            f"{override.input_line}: {override.key_or_group} has {ceil(number):,} values; "
            f"a grid has at most {MOST_POINTS:,} points",
            "Shorten the range, or give it a larger step: range(start,stop,step).",
        )


def _elements(override: Override, composer: Composer) -> Iterator[Override]:
    swept: object = override.value()  # Hydra's annotation omits Glob
    key = override.get_key_element()
    if isinstance(swept, Glob):
        if override.key_or_group not in composer.groups:
            hint = choices_hint(override.key_or_group, "Groups", sorted(composer.groups))
            raise UserError(f"{override.input_line}: glob() works only for the options of a group", hint)
        names = swept.filter(composer.options(override.key_or_group))
        pairs: Iterator[tuple[Any, str]] = zip(names, names, strict=True)
    else:
        pairs = zip(override.sweep_iterator(), override.sweep_string_iterator(), strict=True)
    for value, text in pairs:
        yield replace(override, value_type=ValueType.ELEMENT, _value=value, input_line=f"{key}={text}")


def joined(*parts: Sequence[Axis]) -> tuple[Axis, ...]:
    """Concatenate axes. A later axis replaces an earlier one with the same key."""
    found: dict[str, Axis] = {}
    for axis in (axis for part in parts for axis in part):
        found[axis.key] = axis
    return tuple(found.values())


def count(grid: Sequence[Axis]) -> int:
    """Return the number of points.

    Raises:
        UserError: there are more than `MOST_POINTS`.
    """
    number = prod(len(axis.values) for axis in grid)
    if number > MOST_POINTS:
        sizes = " x ".join(f"{axis.key}: {len(axis.values):,}" for axis in grid if len(axis.values) > 1)
        raise UserError(
            f"the grid has {number:,} points ({sizes}); a sweep has at most {MOST_POINTS:,}",
            "Give some keys fewer values, or run several sweeps.",
        )
    return number


def points(grid: Sequence[Axis]) -> Iterator[Point]:
    """Return the points in planning order: the last argument changes fastest."""
    return product(*(axis.values for axis in grid))


GROUPS = ("env", "agents", "topology", "llm")
"""Groups displayed by component name; language models are displayed by model."""


def names(configuration: Mapping[str, Any]) -> dict[str, str]:
    """Return the components of a cell by group.

    Args:
        configuration: configuration of the cell, as plain data.
    """
    found = {group: str(configuration[group]["name"]) for group in GROUPS}
    found["agents"] = team_label(configuration["agents"])
    return found | {"llm": str(configuration["llm"].get("model") or found["llm"])}


def varied(configurations: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """Return the groups with several components, and those components in order."""
    found: dict[str, dict[str, None]] = {group: {} for group in GROUPS}
    for configuration in configurations:
        for group, name in names(configuration).items():
            found[group][name] = None
    return {group: tuple(several) for group, several in found.items() if len(several) > 1}

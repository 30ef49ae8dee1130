"""The points of a grid: Hydra's sweep grammar, spelled out into one value a key."""

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
"""Points that a grid may have: more are a slip of the pen."""

Point = tuple[Override, ...]
"""Overrides of one value each, in the order in which they were written."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One argument, spelled out.

    Attributes:
        key: the key or group that it sets.
        values: one override for each value.
        swept: whether the argument is a sweep, be it over one value.
    """

    key: str
    values: tuple[Override, ...]
    swept: bool

    @property
    def text(self) -> str:
        """Return the argument as one could write it."""
        first = (self.values[0].input_line or "").partition("=")[0]
        return f"{first}={','.join((value.input_line or '').partition('=')[2] for value in self.values)}"


def axes(arguments: Sequence[str], composer: Composer) -> tuple[Axis, ...]:
    """Read `KEY=VALUES` arguments.

    Args:
        arguments: in Hydra's override grammar, sweeps among them.
        composer: knows the options of the groups, for `glob`.

    Raises:
        UserError: an argument cannot be read, names no value, or has no place in a sweep.
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
    """Refuse a range with more values than a grid may have points, without counting through it."""
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
    swept: object = override.value()  # Hydra's annotation leaves Glob out
    key = override.get_key_element()
    if isinstance(swept, Glob):
        if override.key_or_group not in composer.groups:
            hint = choices_hint(override.key_or_group, "Groups", sorted(composer.groups))
            raise UserError(f"{override.input_line}: glob() names the options of a group", hint)
        names = swept.filter(composer.options(override.key_or_group))
        pairs: Iterator[tuple[Any, str]] = zip(names, names, strict=True)
    else:
        pairs = zip(override.sweep_iterator(), override.sweep_string_iterator(), strict=True)
    for value, text in pairs:
        yield replace(override, value_type=ValueType.ELEMENT, _value=value, input_line=f"{key}={text}")


def joined(*parts: Sequence[Axis]) -> tuple[Axis, ...]:
    """Put axes behind one another. One that sets the same key as an earlier one takes its place."""
    found: dict[str, Axis] = {}
    for axis in (axis for part in parts for axis in part):
        found[axis.key] = axis
    return tuple(found.values())


def count(grid: Sequence[Axis]) -> int:
    """Return the number of points.

    Raises:
        UserError: there are more than anybody can mean.
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
"""Groups whose options are shown by name; language models are shown by model."""


def names(configuration: Mapping[str, Any]) -> dict[str, str]:
    """Return the components of a cell by their groups.

    Args:
        configuration: of the cell, as plain data.
    """
    found = {group: str(configuration[group]["name"]) for group in GROUPS}
    found["agents"] = team_label(configuration["agents"])
    return found | {"llm": str(configuration["llm"].get("model") or found["llm"])}


def varied(configurations: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """Return the groups of which there are several components, with the components in order."""
    found: dict[str, dict[str, None]] = {group: {} for group in GROUPS}
    for configuration in configurations:
        for group, name in names(configuration).items():
            found[group][name] = None
    return {group: tuple(several) for group, several in found.items() if len(several) > 1}

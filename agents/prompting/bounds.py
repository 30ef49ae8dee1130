"""Which bounds of a value are told, in the words of a prompt and in the form of its answer.

A bound that no sensible plan comes near costs tokens in every prompt. The typed models check it all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FAR = 1000
"""A limit from here on is one that no sensible plan comes near."""

_LIMITS = ("maximum", "exclusiveMaximum")
BOUNDS = ("minimum", "exclusiveMinimum", *_LIMITS)
"""The keywords of JSON Schema for the bounds of a number."""


def told_bounds(field: Mapping[str, Any]) -> dict[str, Any]:
    """Return the bounds of a number that a plan could run into, from its JSON schema, by keyword.

    A count that nothing limits has none: that it is not negative goes without saying.
    """
    told = {key: field[key] for key in BOUNDS if key in field and not (key in _LIMITS and field[key] >= FAR)}
    return {} if told in ({"minimum": 0}, {"minimum": 1}) else told

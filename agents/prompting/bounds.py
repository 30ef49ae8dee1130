"""Which bounds of a value are given, in the words of a prompt and in the form of its answer.

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


def sent_bounds(field: Mapping[str, Any]) -> dict[str, Any]:
    """Return the bounds of a number that the form of an answer has, from its JSON schema, by keyword.

    That an id is not negative goes without saying. That a count is not 0 does not, for who answers by the form alone.
    """
    found = {key: field[key] for key in BOUNDS if key in field and not (key in _LIMITS and field[key] >= FAR)}
    return {} if found == {"minimum": 0} else found


def bounds_in_words(field: Mapping[str, Any]) -> dict[str, Any]:
    """Return the bounds that a prompt gives in words: those that a plan could run into.

    A count that nothing limits has none.
    """
    found = sent_bounds(field)
    return {} if found == {"minimum": 1} else found

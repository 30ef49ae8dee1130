"""What a check says when a rule of a contract does not hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from pydantic import BaseModel

SHOWN = 200
"""Characters of a value that a message shows, at most."""


class BrokenContract(AssertionError):
    """A rule of a contract does not hold.

    Attributes:
        rule: the rule, as a sentence.
    """

    def __init__(self, place: str, rule: str, found: str) -> None:
        super().__init__(f"{place}: {rule}; found: {found}")
        self.rule = rule


class Contract:
    """Holds what is checked against rules, and names the place where one does not hold.

    Attributes:
        place: what is checked just now, for messages.
    """

    def __init__(self, place: str) -> None:
        self.place = place

    def require(self, holds: bool, rule: str, found: object) -> None:
        """Require that a rule holds.

        Args:
            holds: whether it does.
            rule: as a sentence, with the name of the method in front.
            found: what there is instead.

        Raises:
            BrokenContract: it does not.
        """
        if not holds:
            raise BrokenContract(self.place, rule, _shortened(found if isinstance(found, str) else repr(found)))

    def require_type(self, value: object, wanted: type | tuple[type, ...], rule: str) -> None:
        """Require that a value has a type; a truth value is no number.

        Raises:
            BrokenContract: it has not.
        """
        fits = isinstance(value, wanted) and (not isinstance(value, bool) or wanted is bool)
        self.require(fits, rule, f"{value!r} of type {type(value).__name__}")

    def json(self, value: object, what: str) -> str:
        """Return a value as JSON, as a trace and a prompt would write it.

        Raises:
            BrokenContract: it is not JSON-ready.
        """
        try:
            return orjson.dumps(value, default=_plain, option=orjson.OPT_NON_STR_KEYS).decode()
        except TypeError as error:
            raise BrokenContract(self.place, f"{what} is JSON-ready", str(error)) from None

    def compare(self, first: list[tuple[str, str]], second: list[tuple[str, str]], rule: str) -> None:
        """Require that two records of an episode are equal.

        Args:
            first: pairs of what was recorded and its value.
            second: the same, recorded again.
            rule: why they have to be equal.

        Raises:
            BrokenContract: they are not; the message shows the first difference.
        """
        for (what, before), (what_now, now) in zip(first, second, strict=False):
            if (what, before) != (what_now, now):
                raise BrokenContract(self.place, rule, f"{what} {_difference(before, now)}")
        self.require(len(first) == len(second), rule, "one of the two episodes is longer")


def _difference(first: str, second: str) -> str:
    """Show two texts from where they begin to differ."""
    start = next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), 0)
    begin = max(start - SHOWN // 8, 0)
    half = SHOWN // 2
    return f"was {first[begin : begin + half]!r} and is {second[begin : begin + half]!r}"


def _shortened(text: str) -> str:
    return text if len(text) <= 2 * SHOWN else f"{text[: 2 * SHOWN]}..."


def _plain(value: object) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON-ready")

"""The schema of the group `fault`: what is made to go wrong in an episode, once, for a benchmark of attribution."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from maeil.user_errors import UserError, choices_hint

OFF = "off"
"""The option without which nothing is made to go wrong; it is no part of what names a cell."""
ONE = "one"


class FaultKind(StrEnum):
    """What a participant does wrong."""

    WRONG_PLAN = "wrong_plan"
    """Once, it commits another plan, which the world takes and which does not help."""
    WITHHELD = "withheld"
    """Once, it does not send what it would have said."""
    FALSE_MESSAGE = "false_message"
    """Once, its message names another thing than the one that is meant."""
    STUBBORN = "stubborn"
    """From then on it commits the plan again that it had before, and sends nothing."""
    LATE = "late"
    """Once, its plan begins some steps late."""


def _each_once(kinds: tuple[FaultKind, ...]) -> tuple[FaultKind, ...]:
    """Put kinds in the order in which they are declared, so that equal sets are one value.

    Raises:
        ValueError: one is there twice, or there is none.
    """
    if not kinds:
        raise ValueError("there must be one at least")
    twice = next((one for one in FaultKind if kinds.count(one) > 1), None)
    if twice is not None:
        raise ValueError(f"{twice} is there twice")
    return tuple(one for one in FaultKind if one in kinds)


class FaultConfig(BaseModel):
    """What may go wrong, and how long an episode is searched for what makes it fail."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Literal["one"]
    """One fault an episode."""
    kinds: Annotated[tuple[FaultKind, ...], AfterValidator(_each_once)]
    """Of which kinds it may be."""
    tries: Annotated[int, Field(ge=1)]
    """Faults that are tried, at most."""
    delay: Annotated[int, Field(ge=1)]
    """Steps that the plan of a late agent waits."""


def schema_of(values: Any) -> type[FaultConfig] | None:
    """Return the schema of the values of the group; None for those that have nothing go wrong.

    Raises:
        UserError: there is no such option.
    """
    if not isinstance(values, Mapping) or not isinstance(values.get("name"), str):
        raise UserError("fault: its name is missing", choices_hint("", "They are", (OFF, ONE)))
    name = values["name"]
    if name == OFF:
        if surplus := sorted(values.keys() - {"name"}):
            raise UserError(f"fault.{surplus[0]}: fault=off has no such key", "Choose fault=one, or leave it out.")
        return None
    if name != ONE:
        raise UserError(f"fault.name: there is no fault {name!r}", choices_hint(name, "They are", (OFF, ONE)))
    return FaultConfig

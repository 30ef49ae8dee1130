"""Reads a trace as far as it can be understood, and says what is wrong with the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields
from typing import Any

import orjson

from maeil.trace import EVENTS, SCHEMA, Event, Stamped
from maeil.trace.events import EpisodeStart, StepTaken


def _is(*types: type) -> Callable[[Any], bool]:
    return lambda value: type(value) in types


def _are(kind: type) -> Callable[[Any], bool]:
    return lambda value: type(value) is list and all(type(item) is kind for item in value)


_MAY_BE: dict[str, Callable[[Any], bool]] = {
    "int": _is(int),
    "float": _is(int, float),
    "bool": _is(bool),
    "str": _is(str),
    "Sequence[int]": _are(int),
    "Sequence[str]": _are(str),
    "Sequence[Mapping[str, Any]]": _are(dict),
    "Sequence[Mapping[str, Any]] | None": lambda value: value is None or _are(dict)(value),
    "Mapping[str, Any]": _is(dict),
    "Mapping[str, str]": _is(dict),
    "Mapping[str, str] | None": _is(dict, type(None)),
}
"""What JSON may hold in a field, by its annotation: pydantic takes thirty times as long, seconds for a large trace."""
_FIELDS = {
    name: [(field.name, _MAY_BE[str(field.type)], field.default) for field in fields(kind)]
    for name, kind in EVENTS.items()
}
_NAMED = 5
"""Lines that are named one by one when they cannot be read."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What there is of a trace.

    Attributes:
        start: its first event; None where even that cannot be read.
        events: those that were understood, in order; none without a start.
        problems: what is wrong with it, a sentence each.
    """

    start: EpisodeStart | None
    events: tuple[Stamped, ...]
    problems: tuple[str, ...]


def read_tolerantly(data: bytes) -> Reading:
    """Read the lines of a trace."""
    lines = data.split(b"\n")
    torn = lines.pop()
    problems: list[str] = []
    wrong: list[str] = []
    unknown: Counter[str] = Counter()
    events: list[Stamped] = []
    start: EpisodeStart | None = None
    for number, line in enumerate(lines, start=1):
        try:
            record = orjson.loads(line)
            kind = record["event"]
            if kind not in EVENTS:
                unknown[str(kind)[:60]] += 1
                continue
            stamped = Stamped(
                int(record["seq"]),
                int(record["t"]),
                float(record["t_hat"]),
                float(record.get("wall", 0)),
                _event(kind, record),
            )
            if start is not None:
                _check(stamped, start)
            elif isinstance(stamped.event, EpisodeStart):
                start = stamped.event
            else:
                wrong.append(f"line {number}: an event before the start of the episode")
                continue
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
            wrong.append(f"line {number}: {_reason(error)}")
            continue
        events.append(stamped)
    if start is not None and start.schema > SCHEMA:
        problems.append(
            f"The trace was written by a newer version of Quorum (schema {start.schema}; this one reads up to "
            f"{SCHEMA}): what follows may be incomplete. Update quorum-harness."
        )
    if unknown:
        listed = ", ".join(f"{name} ({count})" for name, count in sorted(unknown.items())[:_NAMED])
        problems.append(f"{unknown.total()} events are of kinds that this version does not know: {listed}.")
    if wrong:
        more = f"; and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
        problems.append(f"{len(wrong)} lines could not be read and are left out: {'; '.join(wrong[:_NAMED])}{more}.")
    if torn:
        problems.append("The last line is cut off, as a killed run leaves it; it is left out.")
    if start is None and data:
        problems.append("The start of the episode cannot be read, so nothing of it can be shown.")
    return Reading(start, tuple(events), (*problems, *_gaps(events)))


def _event(kind: str, record: dict[str, Any]) -> Event:
    values = {}
    for name, may_be, default in _FIELDS[kind]:
        value = record[name] if default is MISSING else record.get(name, default)
        if not may_be(value):
            raise ValueError(f"the field {name!r} cannot be {repr(value)[:60]}")
        values[name] = value
    return EVENTS[kind](**values)


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"an event without {error}"
    if isinstance(error, orjson.JSONDecodeError):
        return f"not JSON: {error}"
    return f"no event: {error}"


def _check(stamped: Stamped, start: EpisodeStart) -> None:
    """Refuse an event that names an agent or an instant that there cannot be.

    Raises:
        ValueError: it does.
    """
    if stamped.t < 0:
        raise ValueError(f"t = {stamped.t}")
    event = stamped.event
    if isinstance(event, EpisodeStart):
        raise ValueError("a second start of the episode")
    if isinstance(event, StepTaken) and len(event.joint) != len(start.agents):
        raise ValueError(f"a joint action of {len(event.joint)} agents; there are {len(start.agents)}")
    participants = len(start.agents) + len(start.coordinators)
    if any(not 0 <= agent < participants for agent in _named(event)):
        raise ValueError("it names an agent that there is not")


def _named(event: Event) -> Iterator[int]:
    found: Any = event
    for name in ("agent", "sender"):
        if hasattr(found, name):
            yield getattr(found, name)
    yield from getattr(found, "recipients", ())


def _gaps(events: list[Stamped]) -> list[str]:
    """Say where a step is missing: lost lines in the middle leave one."""
    for number, stamped in enumerate(s for s in events if isinstance(s.event, StepTaken)):
        if stamped.t != number:
            return [f"Step {number} is missing in the trace."]
    return []

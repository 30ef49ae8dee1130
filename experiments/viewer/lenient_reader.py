"""Reads a trace as far as it can be understood, and says what is wrong with the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from operator import itemgetter
from typing import Any

import orjson

from maeil.trace import EVENTS, SCHEMA, Event, Stamped
from maeil.trace.events import EpisodeStart, MessageSent, StepTaken


def _are(kind: type) -> Callable[[Any], bool]:
    return lambda items: set(map(type, items)) <= {kind}


_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "str": (str,),
    "Sequence[int]": (list,),
    "Sequence[str]": (list,),
    "Sequence[Mapping[str, Any]]": (list,),
    "Sequence[Mapping[str, Any]] | None": (list, type(None)),
    "Mapping[str, Any]": (dict,),
    "Mapping[str, str]": (dict,),
    "Mapping[str, str] | None": (dict, type(None)),
}
"""What JSON may hold in a field, by its annotation: pydantic takes thirty times as long, seconds for a large trace."""
_ITEMS = {"int": _are(int), "str": _are(str), "Mapping[str, Any]": _are(dict)}


@dataclass(frozen=True, slots=True)
class _Form:
    """How the record of an event must be made."""

    kind: type[Event]
    names: tuple[str, ...]
    pick: Callable[[Mapping[str, Any]], tuple[Any, ...]]
    defaults: Mapping[str, Any]
    types: tuple[tuple[type, ...], ...]
    lists: tuple[tuple[int, Callable[[Any], bool]], ...]
    agents: tuple[str, ...]
    good: set[tuple[type, ...]]
    """Types of the values of records that were found right: most are like one before."""

    @classmethod
    def of(cls, kind: type[Event]) -> _Form:
        names = tuple(field.name for field in fields(kind))
        written = [str(field.type) for field in fields(kind)]
        items = [(i, text[len("Sequence[") :].partition(" | ")[0].removesuffix("]")) for i, text in enumerate(written)]
        return cls(
            kind,
            names,
            itemgetter(*names) if len(names) > 1 else lambda record: (record[names[0]],),
            {field.name: field.default for field in fields(kind) if field.default is not MISSING},
            tuple(_TYPES[text] for text in written),
            tuple((i, _ITEMS[of]) for i, of in items if written[i].startswith("Sequence[")),
            tuple(name for name in ("agent", "sender") if name in names),
            set(),
        )

    def read(self, record: Mapping[str, Any]) -> Event:
        """Make the event of a record.

        Raises:
            KeyError: a field is missing.
            ValueError: a field cannot be what it is.
        """
        try:
            values = self.pick(record)
        except KeyError:
            values = self.pick({**self.defaults, **record})
        found = tuple(map(type, values))
        if found not in self.good:
            for name, value, types in zip(self.names, values, self.types, strict=True):
                if type(value) not in types:
                    raise ValueError(f"the field {name!r} cannot be {repr(value)[:60]}")
            self.good.add(found)
        for index, fine in self.lists:
            if values[index] is not None and not fine(values[index]):
                raise ValueError(f"the field {self.names[index]!r} cannot be {repr(values[index])[:60]}")
        event: Event = self.kind(*values)
        return event


_FORMS = {name: _Form.of(kind) for name, kind in EVENTS.items()}
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
            form = _FORMS.get(kind)
            if form is None:
                unknown[str(kind)[:60]] += 1
                continue
            stamped = Stamped(
                int(record["seq"]),
                int(record["t"]),
                float(record["t_hat"]),
                float(record.get("wall", 0)),
                form.read(record),
            )
            if start is not None:
                _check(stamped, form, start)
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
    if not data:
        problems.append("trace.jsonl: it is empty.")
    elif start is None:
        problems.append("The start of the episode cannot be read, so nothing of it can be shown.")
    return Reading(start, tuple(events), (*problems, *_gaps(events)))


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"an event without {error}"
    if isinstance(error, orjson.JSONDecodeError):
        return f"not JSON: {error}"
    return f"no event: {error}"


def _check(stamped: Stamped, form: _Form, start: EpisodeStart) -> None:
    """Refuse an event that names an agent or an instant that there cannot be.

    Raises:
        ValueError: it does.
    """
    if stamped.t < 0:
        raise ValueError(f"t = {stamped.t}")
    event: Any = stamped.event
    participants = range(len(start.agents) + len(start.coordinators))
    for name in form.agents:
        if getattr(event, name) not in participants:
            raise ValueError(f"the field {name!r} cannot be {getattr(event, name)}: there is no such participant")
    match event:
        case MessageSent() if not set(participants).issuperset(event.recipients):
            raise ValueError("it has a recipient that there is not")
        case StepTaken() if len(event.joint) != len(start.agents):
            raise ValueError(f"a joint action of {len(event.joint)} agents; there are {len(start.agents)}")
        case EpisodeStart():
            raise ValueError("a second start of the episode")


def _gaps(events: list[Stamped]) -> list[str]:
    """Say where a step is missing: lost lines in the middle leave one."""
    for number, stamped in enumerate(s for s in events if isinstance(s.event, StepTaken)):
        if stamped.t != number:
            return [f"Step {number} is missing in the trace."]
    return []

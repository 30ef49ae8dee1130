"""Reads a trace back, whole or as the prefix that a killed run left."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

import orjson

from maeil.errors import NewerTrace, TraceError
from maeil.trace.events import EVENTS, SCHEMA, WALL_CALL_FIELDS, WALL_FIELDS, EpisodeEnd, EpisodeStart, Event, Stamped

E = TypeVar("E", bound=Event)
_NAMES = {name: tuple(f.name for f in fields(kind)) for name, kind in EVENTS.items()}


@dataclass(frozen=True, slots=True)
class Trace:
    """An episode as it was recorded.

    Attributes:
        events: all events, in order.
        torn: whether the last line was cut off (and left out).
    """

    events: tuple[Stamped, ...]
    torn: bool = False
    _by_type: dict[type[Any], tuple[Stamped, ...]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def start(self) -> EpisodeStart:
        """The first event."""
        event = self.events[0].event
        assert isinstance(event, EpisodeStart)
        return event

    @property
    def end(self) -> EpisodeEnd | None:
        """The last event, or None when the run was killed before it."""
        event = self.events[-1].event
        return event if isinstance(event, EpisodeEnd) else None

    def stamped(self, kind: type[Event]) -> tuple[Stamped, ...]:
        """Return the events of one type with their stamps, in order."""
        if not self._by_type:
            by_type: dict[type[Any], list[Stamped]] = {event: [] for event in EVENTS.values()}
            for stamped in self.events:
                by_type[type(stamped.event)].append(stamped)
            self._by_type.update((event, tuple(found)) for event, found in by_type.items())
        return self._by_type[kind]

    def of(self, kind: type[E]) -> Iterator[E]:
        """Return the events of one type, in order."""
        return (stamped.event for stamped in self.stamped(kind))  # type: ignore[misc, arg-type]


def read_trace(path: Path) -> Trace:
    """Read a trace.

    Args:
        path: `trace.jsonl`, `trace.jsonl.gz`, or the folder that holds one of them.

    Raises:
        TraceError: no trace there, or a line that is no event (a cut-off last line is left out instead).
        NewerTrace: written by a newer schema.
    """
    file = _locate(path)
    lines = _read_bytes(file).split(b"\n")
    torn = lines.pop() != b""
    events: list[Stamped] = []
    for number, line in enumerate(lines, start=1):
        try:
            events.append(_parse(orjson.loads(line)))
        except NewerTrace:
            raise
        except (ValueError, TypeError, KeyError) as error:
            raise TraceError(f"{file}, line {number}: not an event of schema {SCHEMA}: {error}") from error
    if not events or not isinstance(events[0].event, EpisodeStart):
        raise TraceError(f"{file}: does not begin with '{EpisodeStart.kind}'")
    return Trace(tuple(events), torn)


def comparable(path: Path) -> list[bytes]:
    """Return the lines of a trace without their wall-time fields: equal for equal configuration, seed and replies."""
    lines = []
    for line in _read_bytes(_locate(path)).splitlines():
        data = orjson.loads(line)
        for name in WALL_FIELDS:
            data.pop(name, None)
        for call in data.get("calls", ()):
            for name in WALL_CALL_FIELDS:
                call.pop(name, None)
        lines.append(orjson.dumps(data))
    return lines


def _locate(path: Path) -> Path:
    candidates = [path / "trace.jsonl", path / "trace.jsonl.gz"] if path.is_dir() else [path]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise TraceError(f"{path}: no trace.jsonl there")


def _read_bytes(file: Path) -> bytes:
    if file.suffix != ".gz":
        return file.read_bytes()
    try:
        return gzip.decompress(file.read_bytes())
    except (EOFError, gzip.BadGzipFile) as error:
        raise TraceError(f"{file}: damaged: {error}") from error


def _parse(data: dict[str, Any]) -> Stamped:
    kind = EVENTS.get(data["event"])
    if data["seq"] == 0 and data.get("schema", 0) > SCHEMA:
        raise NewerTrace(
            f"the trace has schema {data['schema']}, this version reads up to {SCHEMA}: update quorum-harness"
        )
    if kind is None:
        raise ValueError(f"unknown event {data['event']!r}")
    event = kind(**{name: data[name] for name in _NAMES[kind.kind]})
    return Stamped(data["seq"], data["t"], data["t_hat"], data["wall"], event)

"""Reads traces, including the incomplete traces of killed runs."""

from __future__ import annotations

import gzip
import heapq
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, wraps
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
import orjson

from maeil.errors import NewerTrace, TraceError
from maeil.trace.events import (
    EVENTS,
    SCHEMA,
    WALL_CALL_FIELDS,
    WALL_FIELDS,
    EpisodeEnd,
    EpisodeStart,
    Event,
    Number,
    Stamped,
)
from maeil.trace.packed import PackedEvents
from maeil.trace.story import TYPES, Story, tell_story
from quorum_base.registry import offers, own

E = TypeVar("E", bound=Event)
T = TypeVar("T")

LARGE = 32 << 20
"""Size in bytes above which the events of a trace are stored compressed."""


class UnknownEvent(ValueError):
    """A line contains an event of an unknown kind.

    Attributes:
        event: kind of the event.
    """

    def __init__(self, event: str) -> None:
        super().__init__(f"unknown event {event!r}: name the module of its extension with --plugin")
        self.event = event


class _Stamp(msgspec.Struct, gc=False):
    """The fields of every line of a trace."""

    seq: int
    t: Annotated[int, msgspec.Meta(ge=0)]
    t_hat: Number
    event: str
    wall: Number = 0.0


class _Version(msgspec.Struct):
    """The fields in the first line of a trace of any version."""

    schema: int = 0


_decode_version = msgspec.json.Decoder(_Version).decode
_decode_stamp = msgspec.json.Decoder(_Stamp).decode


@cache
def _load_extensions() -> None:
    """Register the events of all extensions. Cached, since an untrusted trace can have millions of unknown kinds."""
    for point in own("quorum.events").values():
        point.load()
    for points in offers("quorum.extensions").values():
        for point in points:
            point.load()


@cache
def _decoder(kind: str) -> Callable[[bytes], Event]:
    """Return the decoder for the lines of an event.

    Raises:
        UnknownEvent: the kind of event is unknown.
    """
    if kind not in EVENTS:
        _load_extensions()
    if kind not in EVENTS:
        raise UnknownEvent(kind)
    return msgspec.json.Decoder(EVENTS[kind]).decode


def read_event(line: bytes) -> Stamped:
    """Parse a line of a trace, and check the type of every field.

    Raises:
        UnknownEvent: the kind of event is unknown.
        ValueError, RecursionError: it is not an event.
    """
    stamp = _decode_stamp(line)
    return Stamped(stamp.seq, stamp.t, stamp.t_hat, stamp.wall, _decoder(stamp.event)(line))


@dataclass(frozen=True, slots=True)
class Trace:
    """A recorded episode.

    Attributes:
        events: all events, in order; in a trace larger than `LARGE`, each iteration decodes them again.
        torn: whether the last line was cut off; it is left out.
    """

    events: Sequence[Stamped]
    torn: bool = False
    _by_type: dict[type[Any], Sequence[Stamped]] = field(default_factory=dict, repr=False, compare=False)
    _derived: dict[Callable[[Any], Any], Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def start(self) -> EpisodeStart:
        """The first event."""
        event = self.events[0].event
        assert isinstance(event, EpisodeStart)
        return event

    @property
    def end(self) -> EpisodeEnd | None:
        """The last event; None if the run was killed before it."""
        event = self.events[-1].event
        return event if isinstance(event, EpisodeEnd) else None

    @property
    def whole(self) -> bool:
        """Whether the episode was recorded to its end."""
        return self.end is not None and not self.torn

    @property
    def story(self) -> Story:
        """The story of the episode: the history of each plan, message, thought and attempt.

        Raises:
            TraceError: the events contradict each other.
        """
        return _tell(self)

    def stamped(self, kind: type[Event]) -> Sequence[Stamped]:
        """Return the events of one type with their stamps, in order."""
        if isinstance(self.events, PackedEvents):
            return self.events.of(kind)
        if not self._by_type:
            by_type: dict[type[Any], list[Stamped]] = {}
            for stamped in self.events:
                by_type.setdefault(type(stamped.event), []).append(stamped)
            self._by_type.update((event, tuple(found)) for event, found in by_type.items())
        return self._by_type.get(kind, ())

    def among(self, *kinds: type[Event]) -> Iterator[Stamped]:
        """Return the events of several types with their stamps, in the order of the trace."""
        return heapq.merge(*map(self.stamped, kinds), key=attrgetter("seq"))

    def of(self, kind: type[E]) -> Iterator[E]:
        """Return the events of one type, in order."""
        return (stamped.event for stamped in self.stamped(kind))  # type: ignore[misc]


def shared(derive: Callable[[Trace], T]) -> Callable[[Trace], T]:
    """Cache a function of the trace, for each trace."""

    @wraps(derive)
    def derive_once(trace: Trace) -> T:
        if derive not in trace._derived:
            trace._derived[derive] = derive(trace)
        found: T = trace._derived[derive]
        return found

    return derive_once


@shared
def _tell(trace: Trace) -> Story:
    return tell_story(trace.among(*TYPES))


def read_trace(path: Path) -> Trace:
    """Read a trace.

    Args:
        path: `trace.jsonl`, `trace.jsonl.gz`, or a folder with one of them.

    Raises:
        TraceError: there is no trace, or a line is not an event (a cut-off last line is left out instead).
        NewerTrace: the trace has a newer schema.
    """
    file = _locate(path)
    try:
        return parse_trace(_lines(file))
    except NewerTrace:
        raise
    except TraceError as error:
        raise TraceError(f"{file}, {error}") from error


def parse_trace(lines: Iterable[bytes]) -> Trace:
    """Parse the lines of a trace.

    Args:
        lines: the lines, each with its newline; a last line without one was cut off.

    Raises:
        TraceError: a line is not an event (a cut-off last line is left out instead), an event is missing or out of
            order, or there are no events.
        NewerTrace: the trace has a newer schema.
    """
    events: list[Stamped] | PackedEvents = []
    kept: list[bytes] = []
    torn, size = False, 0
    for number, line in enumerate(lines, start=1):
        if torn := not line.endswith(b"\n"):
            continue  # only the last line can lack its newline
        try:
            if number == 1:
                _check_version(line)
            stamped = read_event(line)
        except (ValueError, RecursionError) as error:
            raise TraceError(f"line {number}: not an event of schema {SCHEMA}: {error}") from error
        if stamped.seq != len(events):
            raise TraceError(f"event {len(events)} is missing or out of place: event {stamped.seq} is there")
        if isinstance(events, PackedEvents):
            events.add(stamped, line)
            continue
        events.append(stamped)
        kept.append(line)
        size += len(line)
        if size > LARGE:
            packed = PackedEvents(read_event)
            for earlier, text in zip(events, kept, strict=True):
                packed.add(earlier, text)
            events, kept = packed, []
    if not events or not isinstance(events[0].event, EpisodeStart):
        raise TraceError(f"line 1: it does not begin with '{EpisodeStart.kind}'")
    return Trace(events if isinstance(events, PackedEvents) else tuple(events), torn)


def parse_some(lines: Iterable[bytes], *types: type[Event]) -> list[Stamped]:
    """Return the first and the last event of a complete trace, and the events of some types, in order.

    The lines of other events are not parsed, which is many times faster if there are few types.

    Args:
        lines: as in `parse_trace`.
        types: the types of events.

    Raises:
        TraceError: a parsed line is not an event, or the trace breaks off before the end of the episode.
        NewerTrace: the trace has a newer schema.
    """
    read: tuple[type[Event], ...] = (EpisodeStart, EpisodeEnd, *types)
    kinds = "|".join(event.kind for event in read)
    wanted = re.compile(rf'"event":"(?:{kinds})"'.encode()).search  # strings cannot match: quotes are escaped
    found: list[Stamped] = []
    for line in lines:
        if not wanted(line):
            continue
        try:
            if not found:
                _check_version(line)
            found.append(read_event(line))
        except (ValueError, RecursionError) as error:
            raise TraceError(f"not an event of schema {SCHEMA}: {error}") from error
    if not (found and isinstance(found[-1].event, EpisodeEnd)):
        raise TraceError("it breaks off before the end of the episode")
    return found


def _check_version(line: bytes) -> None:
    schema = _decode_version(line).schema
    if schema > SCHEMA:
        raise NewerTrace(f"the trace has schema {schema}, this version reads {SCHEMA}: update quorum-harness")
    if schema < SCHEMA:
        raise TraceError(
            f"line 1: the trace has schema {schema}, this version reads {SCHEMA}: use the version that wrote it"
        )


def comparable(path: Path) -> list[bytes]:
    """Return the lines of a trace without wall-clock fields: equal for equal configuration, seed and replies."""
    lines = []
    for line in _lines(_locate(path)):
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


def _lines(file: Path) -> Iterator[bytes]:
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as opened:
            yield from opened
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise TraceError(f"damaged: {error}") from error

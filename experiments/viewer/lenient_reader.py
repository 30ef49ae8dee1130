"""Reads a trace as far as it can be understood, and says what is wrong with the rest."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from maeil.trace import EVENTS, SCHEMA, Event, Stamped
from maeil.trace.events import EpisodeStart, MessageSent, StepTaken
from quorum.experiments.results.run_folder import LARGEST, TRACES, DamagedFile, RunFolder

_CHUNK = 1 << 20
_GZIP = 16 + zlib.MAX_WBITS
"""Makes zlib expect the head of gzip."""
_MOST_NAMED = 5
"""Lines that are named one by one when they cannot be read."""


class _Stamp(msgspec.Struct):
    """What every line of a trace has."""

    seq: int
    t: Annotated[int, msgspec.Meta(ge=0)]
    t_hat: float
    event: str
    wall: float = 0.0


_decode_stamp = msgspec.json.Decoder(_Stamp).decode
_decode_event: dict[str, Callable[[bytes], Event]] = {
    name: msgspec.json.Decoder(kind).decode for name, kind in EVENTS.items()
}
_AGENT_FIELDS = {kind: [name for name in ("agent", "sender") if name in kind.__slots__] for kind in EVENTS.values()}
"""The fields of an event that name a participant."""


@dataclass(frozen=True, slots=True)
class LenientTrace:
    """What there is of a trace.

    Attributes:
        start: its first event; None where even that cannot be read.
        events: those that were understood, in order; none without a start.
        problems: what is wrong with it, a sentence each.
    """

    start: EpisodeStart | None
    events: Sequence[Stamped]
    problems: Sequence[str]


def read_leniently(folder: RunFolder) -> LenientTrace:
    """Read the trace of a run, whatever state it is in."""
    data, problems = _lines(folder)
    if problems and not data:
        return LenientTrace(None, (), problems)
    found = _parse(data)
    return LenientTrace(found.start, found.events, [*problems, *found.problems])


def _lines(folder: RunFolder) -> tuple[bytes, list[str]]:
    """Return the lines of a trace, unpacked as far as they go, and what is wrong with the file."""
    for name in TRACES:
        try:
            data = folder.read(name)
        except DamagedFile as damage:
            return b"", [damage.brief]
        if data is not None:
            return _unpacked(name, data) if name.endswith(".gz") else (data, [])
    return b"", ["trace.jsonl: there is none, so there is nothing to show"]


def _unpacked(name: str, data: bytes) -> tuple[bytes, list[str]]:
    unpacker, parts, size = zlib.decompressobj(_GZIP), [], 0
    try:
        while data and not unpacker.eof:
            part = unpacker.decompress(data, _CHUNK)
            data = unpacker.unconsumed_tail
            size += len(part)
            parts.append(part)
            if size > LARGEST:
                return b"".join(parts), [f"{name}: read up to {LARGEST >> 20} MiB of its text, and no further"]
    except zlib.error as error:
        return b"".join(parts), [f"{name}: damaged: {error}; shown as far as it could be unpacked"]
    if not unpacker.eof:
        return b"".join(parts), [f"{name}: cut off; shown as far as it goes"]
    return b"".join(parts), []


def _parse(data: bytes) -> LenientTrace:
    lines = data.split(b"\n")
    torn = lines.pop()
    problems: list[str] = []
    wrong: list[str] = []
    unknown: Counter[str] = Counter()
    events: list[Stamped] = []
    start: EpisodeStart | None = None
    for number, line in enumerate(lines, start=1):
        try:
            stamp = _decode_stamp(line)
            decode = _decode_event.get(stamp.event)
            if decode is None:
                unknown[stamp.event[:60]] += 1
                continue
            stamped = Stamped(stamp.seq, stamp.t, stamp.t_hat, stamp.wall, decode(line))
            if start is not None:
                _check(stamped, start)
            elif isinstance(stamped.event, EpisodeStart):
                start = stamped.event
            else:
                raise ValueError("it stands before the start of the episode")
        except (ValueError, RecursionError) as error:
            wrong.append(f"line {number}: {error}")
            continue
        events.append(stamped)
    if start is not None and start.schema > SCHEMA:
        problems.append(
            f"The trace was written by a newer version of Quorum (schema {start.schema}; this one reads up to "
            f"{SCHEMA}): what follows may be incomplete. Update quorum-harness."
        )
    if unknown:
        listed = ", ".join(f"{name} ({count})" for name, count in sorted(unknown.items())[:_MOST_NAMED])
        problems.append(f"{unknown.total()} events are of kinds that this version does not know: {listed}.")
    if wrong:
        more = f"; and {len(wrong) - _MOST_NAMED} more" if len(wrong) > _MOST_NAMED else ""
        listed = "; ".join(wrong[:_MOST_NAMED])
        problems.append(f"{len(wrong)} lines could not be read and are left out: {listed}{more}.")
    if torn:
        problems.append("The last line is cut off, as a killed run leaves it; it is left out.")
    if not data:
        problems.append("trace.jsonl: it is empty.")
    elif start is None:
        problems.append("The start of the episode cannot be read, so nothing of it can be shown.")
    return LenientTrace(start, events, [*problems, *_gaps(events)])


def _check(stamped: Stamped, start: EpisodeStart) -> None:
    """Refuse an event that names an agent that there cannot be.

    Raises:
        ValueError: it does.
    """
    event: Any = stamped.event
    participants = range(len(start.agents) + len(start.coordinators))
    for name in _AGENT_FIELDS[type(event)]:
        if (found := getattr(event, name)) not in participants:
            raise ValueError(f"the field {name!r} cannot be {found}: there is no such participant")
    match event:
        case MessageSent() if not set(participants).issuperset(event.recipients):
            raise ValueError("it has a recipient that there is not")
        case StepTaken() if len(event.joint) != len(start.agents):
            raise ValueError(f"a joint action of {len(event.joint)} agents; there are {len(start.agents)}")
        case EpisodeStart():
            raise ValueError("a second start of the episode")


def _gaps(events: Sequence[Stamped]) -> list[str]:
    """Say where a step is missing: lost lines in the middle leave one."""
    for number, stamped in enumerate(s for s in events if isinstance(s.event, StepTaken)):
        if stamped.t != number:
            return [f"Step {number} is missing in the trace."]
    return []

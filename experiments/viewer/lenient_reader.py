"""Reads a trace as far as it can be understood, and says what is wrong with the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from maeil.trace import EVENTS, SCHEMA, Stamped, UnknownEvent, read_event
from maeil.trace.events import EpisodeStart, MessageSent, StepTaken
from quorum.experiments.common.run_files import DamagedFile
from quorum.experiments.results.run_folder import RunFolder

_MOST_NAMED = 5
"""Lines that are named one by one when they cannot be read."""
_MOST_KINDS = 100
"""Kinds of unknown events that are told apart."""
_MOST_UNREAD = 1000
"""Lines that cannot be read, after which a file is taken for something else."""
_MOST_UNKNOWN = 100_000
"""Events of unknown kinds, after which the same holds."""


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
    name = folder.trace_name()
    if name is None:
        return LenientTrace(None, (), ["trace.jsonl: there is none, so there is nothing to show"])
    reading = _Reading()
    try:
        for line in folder.files.lines(name):
            reading.take(line)
            if reading.hopeless:
                reading.problems.append(f"{name}: it is no trace from line {reading.lines} on, and was read no further")
                break
    except (DamagedFile, FileNotFoundError) as error:
        brief = error.brief if isinstance(error, DamagedFile) else f"{name}: there is no such file"
        reading.problems.append(f"{brief}; shown as far as it could be read" if reading.lines else brief)
    return reading.result()


class _Reading:
    """Takes lines in, and keeps what can be understood of them."""

    def __init__(self) -> None:
        self.lines = 0
        self.problems: list[str] = []
        self._start: EpisodeStart | None = None
        self._events: list[Stamped] = []
        self._wrong: list[str] = []
        self._unread = 0
        self._unknown: Counter[str] = Counter()
        self._torn = False

    @property
    def hopeless(self) -> bool:
        """Whether so much cannot be read that nothing is lost if it is given up."""
        return self._unread > _MOST_UNREAD or self._unknown.total() > _MOST_UNKNOWN

    def take(self, line: bytes) -> None:
        """Take the next line; a torn one is the last."""
        self._torn = not line.endswith(b"\n")
        if self._torn:
            return
        self.lines += 1
        try:
            stamped = read_event(line)
            if self._start is not None:
                _check(stamped, self._start)
            elif isinstance(stamped.event, EpisodeStart):
                self._start = stamped.event
            else:
                raise ValueError("it stands before the start of the episode")
        except UnknownEvent as error:
            name = error.event[:60]
            self._unknown[name if name in self._unknown or len(self._unknown) < _MOST_KINDS else "others"] += 1
        except (ValueError, RecursionError) as error:
            self._unread += 1
            if self._unread <= _MOST_NAMED:
                self._wrong.append(f"line {self.lines}: {error}")
        else:
            self._events.append(stamped)

    def result(self) -> LenientTrace:
        """Return what there is, and say what is wrong with the rest."""
        start, problems = self._start, list(self.problems)
        if start is not None and start.schema > SCHEMA:
            problems.append(
                f"The trace was written by a newer version of Quorum (schema {start.schema}; this one reads up to "
                f"{SCHEMA}): what follows may be incomplete. Update quorum-harness."
            )
        if self._unknown:
            listed = ", ".join(f"{name} ({count})" for name, count in sorted(self._unknown.items())[:_MOST_NAMED])
            problems.append(f"{self._unknown.total()} events are of kinds that this version does not know: {listed}.")
        if self._unread:
            more = f"; and {self._unread - _MOST_NAMED} more" if self._unread > _MOST_NAMED else ""
            problems.append(f"{self._unread} lines could not be read and are left out: {'; '.join(self._wrong)}{more}.")
        if self._torn:
            problems.append("The last line is cut off, as a killed run leaves it; it is left out.")
        if not (self.lines or self._torn or problems):
            problems.append("trace.jsonl: it is empty.")
        elif start is None and self.lines:
            problems.append("The start of the episode cannot be read, so nothing of it can be shown.")
        return LenientTrace(start, self._events, [*problems, *_gaps(self._events)])


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

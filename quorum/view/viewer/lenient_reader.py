"""Read a trace as far as possible, and report what is wrong with the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from maeil.trace import SCHEMA, Stamped, UnknownEvent, read_event
from maeil.trace.events import EpisodeStart, MessageSent, StepTaken
from quorum.runs.run_folder import RunFolder
from quorum.storage.run_files import DamagedFile

_MOST_NAMED = 5
"""Maximum number of unreadable lines to report one by one."""
_MOST_KINDS = 100
"""Maximum number of kinds of unknown events to count separately."""
_MOST_UNREAD = 1000
"""Number of unreadable lines after which reading stops: the file is probably something else."""
_AGENT_FIELDS = ("agent", "sender")
"""Event fields that refer to a participant."""


class LenientReading:
    """A trace, read once from its start to its end or to where it becomes unreadable.

    Args:
        folder: folder of the run.
    """

    def __init__(self, folder: RunFolder) -> None:
        self.start: EpisodeStart | None = None
        """The first event; None if it cannot be read."""
        self.missing: int | None = None
        """The first missing step: lost lines in the middle leave a gap."""
        self._folder = folder
        self._lines = 0
        self._damage: list[str] = []
        self._wrong: list[str] = []
        self._unread = 0
        self._unknown: Counter[str] = Counter()
        self._torn = False
        self._steps = 0

    def events(self) -> Iterator[tuple[Stamped, bytes]]:
        """Return the readable events, in order, each with its line; none without a start."""
        name = self._folder.trace_name()
        if name is None:
            self._damage.append("trace.jsonl is missing, so there is nothing to show")
            return
        try:
            for line in self._folder.files.lines(name):
                stamped = self._taken(line)
                if stamped is not None:
                    yield stamped, line
                if self._unread > _MOST_UNREAD:
                    self._damage.append(f"{name}: not a trace from line {self._lines} on; the rest was not read")
                    break
        except (DamagedFile, FileNotFoundError) as error:
            brief = error.brief if isinstance(error, DamagedFile) else f"{name}: there is no such file"
            self._damage.append(f"{brief}; shown as far as it could be read" if self._lines else brief)

    def _taken(self, line: bytes) -> Stamped | None:
        """Read the next line; an incomplete one is the last."""
        self._torn = not line.endswith(b"\n")
        if self._torn:
            return None
        self._lines += 1
        try:
            stamped = read_event(line)
            if self.start is not None:
                _check(stamped, self.start)
            elif isinstance(stamped.event, EpisodeStart):
                self.start = stamped.event
            else:
                raise ValueError("it comes before the start of the episode")
        except UnknownEvent as error:
            name = error.event[:60]
            self._unknown[name if name in self._unknown or len(self._unknown) < _MOST_KINDS else "others"] += 1
        except (ValueError, RecursionError) as error:
            self._unread += 1
            if self._unread <= _MOST_NAMED:
                self._wrong.append(f"line {self._lines}: {error}")
        else:
            if isinstance(stamped.event, StepTaken):
                if self.missing is None and stamped.t != self._steps:
                    self.missing = self._steps
                self._steps += 1
            return stamped
        return None

    def problems(self, *, under_way: bool) -> list[str]:
        """Report the problems found while reading, a sentence each.

        Args:
            under_way: whether the run is in progress, so that the file may be empty, or end in the middle of a line.
        """
        start, problems = self.start, list(self._damage)
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
        if self._torn and not under_way:
            problems.append("The last line is cut off, as after a killed run, and is left out.")
        if not (self._lines or self._torn or problems or under_way):
            problems.append("trace.jsonl: it is empty.")
        elif start is None and self._lines:
            problems.append("The start of the episode cannot be read, so the episode cannot be shown.")
        if self.missing is not None:
            problems.append(f"Step {self.missing} is missing from the trace.")
        return problems


def _check(stamped: Stamped, start: EpisodeStart) -> None:
    """Refuse an event that names an impossible agent.

    Raises:
        ValueError: it does.
    """
    event: Any = stamped.event
    participants = range(len(start.agents) + len(start.coordinators))
    for name in _AGENT_FIELDS:
        if hasattr(event, name) and (found := getattr(event, name)) not in participants:
            raise ValueError(f"the field {name!r} cannot be {found}: there is no such participant")
    match event:
        case MessageSent() if not set(participants).issuperset(event.recipients):
            raise ValueError("it has a recipient that does not exist")
        case StepTaken() if len(event.joint) != len(start.agents):
            raise ValueError(f"a joint action of {len(event.joint)} agents; there are {len(start.agents)}")
        case EpisodeStart():
            raise ValueError("a second start of the episode")

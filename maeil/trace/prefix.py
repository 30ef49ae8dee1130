"""The prefix that a branch shares with a recorded episode, up to an instant, checked event by event."""

from __future__ import annotations

import copy
import hashlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

import orjson

from maeil.errors import ReplayMismatch, TraceError
from maeil.trace.events import (
    WALL_CALL_FIELDS,
    EpisodeEnd,
    EpisodeStart,
    Number,
    Stamped,
    StepTaken,
    ThoughtEnd,
    ThoughtStart,
)
from maeil.trace.reader import Trace

_LIMIT = "max_steps"
"""The key of the step limit in a board."""
_MOST_SHOWN = 300
"""Maximum number of characters of an event in a message."""


@dataclass(frozen=True, slots=True)
class Instant:
    """An instant of an episode, on both clocks.

    Attributes:
        t: environment step.
        t_hat: cognitive time; None for the start of the team's first thoughts in that step.
    """

    t: int
    t_hat: Number | None = None

    def has_come(self, t: int, t_hat: Number) -> bool:
        """Whether the instant is at or before a point on both clocks."""
        return t > self.t or (t == self.t and (self.t_hat is None or t_hat >= self.t_hat))

    def __str__(self) -> str:
        return f"{self.t}" if self.t_hat is None else f"{self.t}:{self.t_hat:g}"


class Prefix:
    """The events of an episode before the first thought that starts at or after an instant.

    It is a listener of a `Recorder`. It compares another episode, the branch, with this one, and reports when the
    branch reaches the instant. Concurrent thoughts all start at the same instant, so during a thought `live` says on
    which side of the branch point it is.

    Args:
        trace: trace of the episode, complete or torn.
        instant: the branch point.
        changed: whether the world is changed at the branch point, at the start of the step. The branch is then live
            from that step on, even if no agent thinks in it.

    Raises:
        TraceError: no thought starts at or after the instant, or the episode ends before that step.
    """

    def __init__(self, trace: Trace, instant: Instant, *, changed: bool = False) -> None:
        self.length = 0
        """Number of events in the prefix."""
        self._checks = True
        self._coming = iter(trace.events)
        self.changes_first = False
        """Whether the first event from the instant on may differ from the recorded one."""
        self.opens = True
        """Whether no agent thinks in the step of the instant before it."""
        self._then: list[Callable[[], None]] = []
        self.due = False
        """Whether the last event of the prefix has occurred, so that the next event is at or after the instant."""
        self.others: frozenset[str] = frozenset()
        """Fields in which the branch's first event may differ: `topology`, and `max_steps` of the board."""
        self.live = False
        """Whether the branch has reached the instant."""
        digest, last = hashlib.sha256(), None
        for stamped in trace.events:
            if isinstance(stamped.event, ThoughtStart):
                if instant.has_come(stamped.t, stamped.t_hat):
                    break
                last = stamped
                self.opens = False
            elif changed and stamped.t >= instant.t and stamped.event.opens_step:
                break
            elif isinstance(stamped.event, StepTaken):
                self.opens = True
            digest.update(_content(stamped) + b"\n")
            self.length += 1
        else:
            place = f"the last one begins at {last.t}:{last.t_hat:g}" if last is not None else "the trace has none"
            raise TraceError(f"no thought begins at {instant} or later; {place}")
        self.digest = digest.hexdigest()
        """SHA-256 of its events without wall-clock fields, in hexadecimal."""

    def then(self, call: Callable[[], None]) -> None:
        """Call a function at the instant, before the thoughts of that instant start."""
        self._then.append(call)

    def __call__(self, stamped: Stamped) -> None:
        """Process an event of the branch.

        Raises:
            ReplayMismatch: it differs from the recorded event. If it differs because an error is ending the branch,
                that error is raised instead.
        """
        if self.live:
            return
        self.due = stamped.seq + 1 == self.length
        has_come = stamped.seq == self.length
        may_differ = has_come and (self.changes_first or stamped.event.changes_world)
        if self._checks and not may_differ and not self._agrees(stamped):
            return
        if has_come:
            self.live = True
            for call in self._then:
                call()

    def _agrees(self, stamped: Stamped) -> bool:
        """Whether an event of the branch equals the next recorded event.

        Raises:
            ReplayMismatch: it does not, and no error is ending the branch.
        """
        expected = next(self._coming)
        if self.others and isinstance(stamped.event, EpisodeStart) and isinstance(expected.event, EpisodeStart):
            stamped = replace(stamped, event=self._as_recorded(stamped.event, expected.event))
        if _content(stamped) == _content(expected):
            return True
        if sys.exception() is None:
            raise _mismatch(expected, stamped)
        return False

    def unchecked(self) -> Prefix:
        """Return a copy that reports when the branch reaches the instant, but does not compare events."""
        other = copy.copy(self)
        other._checks, other._then = False, []
        return other

    def _as_recorded(self, start: EpisodeStart, recorded: EpisodeStart) -> EpisodeStart:
        if "topology" in self.others:
            start = replace(start, topology=recorded.topology)
        if _LIMIT in self.others and _LIMIT in start.board and _LIMIT in recorded.board:
            start = replace(start, board={**start.board, _LIMIT: recorded.board[_LIMIT]})
        return start


class Repetition:
    """A listener of a `Recorder` that compares an episode with an earlier recording of it, event by event.

    Args:
        trace: complete trace of the recorded episode.
    """

    def __init__(self, trace: Trace) -> None:
        self._coming = iter(trace.events)
        self.complete = False
        """Whether the last recorded event has occurred."""
        self.events = 0
        """Number of equal events so far, ignoring wall-clock fields."""

    def __call__(self, stamped: Stamped) -> None:
        """Process an event of the episode.

        Raises:
            ReplayMismatch: it differs from the recorded event, and no error is ending the episode.
        """
        expected = next(self._coming, None)
        if expected is not None and _content(expected) == _content(stamped):
            self.events += 1
            self.complete = isinstance(expected.event, EpisodeEnd)
        elif sys.exception() is None:
            raise _mismatch(expected, stamped)


def _mismatch(expected: Stamped | None, stamped: Stamped) -> ReplayMismatch:
    was = _shown(expected) if expected is not None else "the end"
    return ReplayMismatch(
        f"event {stamped.seq} at {stamped.t}:{stamped.t_hat:g}: it was {was}, and is now {_shown(stamped)}"
    )


def _content(stamped: Stamped) -> bytes:
    """Return the reproducible content of an event, for comparing two episodes."""
    event = stamped.event
    if isinstance(event, ThoughtEnd):
        calls = [{name: value for name, value in call.items() if name not in WALL_CALL_FIELDS} for call in event.calls]
        event = replace(event, calls=calls, seconds=0)
    elif isinstance(event, EpisodeStart):
        event = replace(event, branch=None)
    return orjson.dumps([stamped.seq, stamped.t, stamped.t_hat, event.kind, event])


def _shown(stamped: Stamped) -> str:
    text = f"{stamped.event.kind} {orjson.dumps(stamped.event).decode()}"
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]} [...]"

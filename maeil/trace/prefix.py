"""The beginning of a recorded episode that a branch of it has, too: up to an instant, event by event."""

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
"""The step limit in what a world reports of its board."""
_MOST_SHOWN = 300
"""Characters of an event that a message shows."""


@dataclass(frozen=True, slots=True)
class Instant:
    """An instant of an episode, on both clocks.

    Attributes:
        t: environment step.
        t_hat: cognitive time; None: as soon as the team begins to think in that step.
    """

    t: int
    t_hat: Number | None = None

    def has_come(self, t: int, t_hat: Number) -> bool:
        """Whether it is over, or now, at a place on both clocks."""
        return t > self.t or (t == self.t and (self.t_hat is None or t_hat >= self.t_hat))

    def __str__(self) -> str:
        return f"{self.t}" if self.t_hat is None else f"{self.t}:{self.t_hat:g}"


class Prefix:
    """What happened in an episode before the first thought that begins at an instant or after it.

    It is a listener of a `Recorder`: it holds another episode, which begins in the same way, against this one, and says
    when that has come to the instant. All thoughts that run at the same time started at the same instant: so what is
    asked during a thought knows by `live` on which side it is.

    Args:
        trace: of the episode, whole or torn.
        instant: where the other one leaves it.
        changed: whether the world is changed there, at the start of the step: then the other one is live from that
            step on, also where nobody thinks in it.

    Raises:
        TraceError: no thought begins then; or the episode is over before that step begins.
    """

    def __init__(self, trace: Trace, instant: Instant, *, changed: bool = False) -> None:
        self.length = 0
        """Number of its events."""
        self._checks = True
        self._coming = iter(trace.events)
        self.changes_first = False
        """Whether what comes first from the instant on may be another event than it was."""
        self.opens = True
        """Whether nobody thinks in the step of the instant before it."""
        self._then: list[Callable[[], None]] = []
        self.due = False
        """Whether all that was before the instant is over, so that what comes next is from then on."""
        self.others: frozenset[str] = frozenset()
        """What the first event of the other episode may tell otherwise: `topology`, `max_steps` of the board."""
        self.live = False
        """Whether the instant has come."""
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
            place = f"the last one begins at {last.t}:{last.t_hat:g}" if last is not None else "there is none at all"
            raise TraceError(f"nobody begins to think at {instant} or later; {place}")
        self.digest = digest.hexdigest()
        """SHA-256 of its events without what belongs to the wall clock, in hexadecimal."""

    def then(self, call: Callable[[], None]) -> None:
        """Have something done when the instant comes, before the thoughts of that instant start."""
        self._then.append(call)

    def __call__(self, stamped: Stamped) -> None:
        """Take an event of the other episode in.

        Raises:
            ReplayMismatch: it is not that of this one. What ends an episode by itself, and so makes it differ, is
                raised where that happens.
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
        """Whether an event of the other episode is the next one of this one.

        Raises:
            ReplayMismatch: it is not, and no error is on its way that ends the episode.
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
        """Return one that says when the instant comes, and holds no event against the record."""
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
    """A listener of a `Recorder` that holds an episode against the record of the same one, event by event.

    Args:
        trace: of the recorded episode, whole.
    """

    def __init__(self, trace: Trace) -> None:
        self._coming = iter(trace.events)
        self.complete = False
        """Whether the last event of the record has come."""
        self.events = 0
        """Events that were equal so far, but for what belongs to the wall clock."""

    def __call__(self, stamped: Stamped) -> None:
        """Take an event of the episode in.

        Raises:
            ReplayMismatch: it is not that of the record, and no error is on its way that ends the episode.
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
        f"event {stamped.seq} at {stamped.t}:{stamped.t_hat:g}: it was {was}, and is {_shown(stamped)} now"
    )


def _content(stamped: Stamped) -> bytes:
    """Return what of an event is the same in two episodes that are the same so far."""
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

"""Writes a trace during the episode."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import orjson

from maeil.trace.events import Event, Stamped

_log = logging.getLogger(__name__)

_BUFFER = 1 << 18
"""Maximum number of buffered bytes; the loop flushes after every step."""

Listener = Callable[[Stamped], None]


@dataclass(slots=True)
class Now:
    """The two clocks of an episode."""

    t: int = 0
    t_hat: float = 0


class Recorder:
    """Stamps the events of an episode, writes each as one line, and passes it to the listeners.

    Args:
        path: the file to write, or None to only call the listeners.
        listeners: called with every stamped event, in order, in the recording thread.

    Raises:
        FileExistsError: the file exists already; a trace is never overwritten.
    """

    def __init__(self, path: Path | None, listeners: Sequence[Listener] = ()) -> None:
        self._file = path.open("xb", buffering=_BUFFER) if path is not None else None
        self._listeners = (*listeners, _log_event) if _log.isEnabledFor(logging.DEBUG) else tuple(listeners)
        self._deterministic: list[Listener] = []
        self._begin = time.perf_counter()
        self.now = Now()
        """The clocks that stamp the next event; the loop advances them."""
        self.events = 0
        """Number of events so far."""
        self.instant: tuple[int, float] = (0, 0)
        """Environment step and cognitive time of the last event."""

    def record(self, event: Event) -> None:
        """Write an event that happens now."""
        t, t_hat = self.now.t, self.now.t_hat
        wall = time.perf_counter() - self._begin
        if self._file is not None:
            self._file.write(event.line(self.events, t, t_hat, wall))
        if self._listeners:
            stamped = Stamped(self.events, t, t_hat, round(wall, 6), event)
            for listener in self._listeners:
                listener(stamped)
        self.events += 1
        self.instant = t, t_hat
        if self._deterministic:
            stamped = Stamped(0, t, t_hat, 0.0, event)
            for listener in self._deterministic:
                listener(stamped)

    def listen(self, listener: Listener) -> None:
        """Call a listener with every event from now on, after it was written, stamped with both clocks only."""
        self._deterministic.append(listener)

    def flush(self) -> None:
        """Pass everything so far to the operating system, so that it survives the death of the process."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """End the recording."""
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _log_event(stamped: Stamped) -> None:
    _log.debug(
        "t=%d t_hat=%g %s %s", stamped.t, stamped.t_hat, stamped.event.kind, orjson.dumps(stamped.event).decode()
    )

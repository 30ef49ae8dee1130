"""Ways to stop a sweep early: by its user, by a signal, or because of an event."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import partial

from quorum.process.signals import handled


class Stop(Enum):
    """Why a sweep started no more cells."""

    INTERRUPTED = "interrupted"
    CANCELLED = "cancelled"
    BUDGET = "budget"
    FAILURES = "failures"
    STUCK = "stuck"


@dataclass(frozen=True, slots=True)
class StopRequest:
    """A request to stop.

    Attributes:
        stop: the source of the request.
        reason: the same as text.
        drop: whether to drop running cells even if this is the first request.
    """

    stop: Stop
    reason: str
    drop: bool = False


class Cancellation:
    """Stops the sweeps that it is passed to, from any thread. A sweep that has not started starts no episode.

    ```python
    stop = quorum.Cancellation()
    threading.Timer(60, stop.cancel).start()
    done = quorum.sweep("n=2,4", "seed=range(0,50)", cancel=stop)
    ```
    """

    def __init__(self) -> None:
        self.requests: list[StopRequest] = []
        """All requests so far; append-only, so that signals and other threads can add to it at any moment."""

    def cancel(self) -> None:
        """Start no more episodes; a second call drops the running ones."""
        self.requests.append(StopRequest(Stop.CANCELLED, Stop.CANCELLED.value))

    @contextmanager
    def by_signals(self) -> Iterator[None]:
        """Let Ctrl-C cancel, each time it is pressed, and SIGTERM drop running episodes immediately."""
        interrupted = StopRequest(Stop.INTERRUPTED, Stop.INTERRUPTED.value)
        terminated = StopRequest(Stop.INTERRUPTED, "ended by SIGTERM", drop=True)
        ask = self.requests.append
        handlers = {signal.SIGINT: partial(ask, interrupted), signal.SIGTERM: partial(ask, terminated)}
        with handled(handlers, takes_time=True):
            yield

"""How a sweep is stopped before all is done: by its user, by a signal, or by what happens to it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import partial

from quorum.process.signals import handled


class Stop(Enum):
    """Why a sweep began no more cells."""

    INTERRUPTED = "interrupted"
    CANCELLED = "cancelled"
    BUDGET = "budget"
    FAILURES = "failures"
    STUCK = "stuck"


@dataclass(frozen=True, slots=True)
class StopRequest:
    """A request to stop.

    Attributes:
        stop: who asks.
        reason: the same in words.
        drop: whether to drop what is under way although nobody has asked to stop before.
    """

    stop: Stop
    reason: str
    drop: bool = False


class Cancellation:
    """Stops the sweeps that it is passed to, from any thread; those that have not begun begin no episode.

    ```python
    stop = quorum.Cancellation()
    threading.Timer(60, stop.cancel).start()
    done = quorum.sweep("n=2,4", "seed=range(0,50)", cancel=stop)
    ```
    """

    def __init__(self) -> None:
        self.requests: list[StopRequest] = []
        """All so far; it is only appended to, which a signal or another thread may do at any moment."""

    def cancel(self) -> None:
        """Begin no more episodes; called again, drop those that are under way."""
        self.requests.append(StopRequest(Stop.CANCELLED, Stop.CANCELLED.value))

    @contextmanager
    def by_signals(self) -> Iterator[None]:
        """Have Ctrl-C cancel, as often as it is pressed, and SIGTERM drop what is under way at once."""
        interrupted = StopRequest(Stop.INTERRUPTED, Stop.INTERRUPTED.value)
        terminated = StopRequest(Stop.INTERRUPTED, "ended by SIGTERM", drop=True)
        ask = self.requests.append
        handlers = {signal.SIGINT: partial(ask, interrupted), signal.SIGTERM: partial(ask, terminated)}
        with handled(handlers, takes_time=True):
            yield

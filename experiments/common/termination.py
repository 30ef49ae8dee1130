"""SIGTERM as a way to stop that lets a program tidy up."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType


@dataclass(slots=True)
class Termination:
    """Whether SIGTERM has asked the program to end."""

    requested: bool = False


@contextmanager
def sigterm_interrupts() -> Iterator[Termination]:
    """Let SIGTERM do inside what Ctrl-C does. Python's own way is to end at once, with what is under way unwritten.

    Schedulers, containers and `kill` send it. For the main thread.
    """
    found = Termination()

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        found.requested = True
        signal.raise_signal(signal.SIGINT)

    earlier = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield found
    finally:
        signal.signal(signal.SIGTERM, earlier)

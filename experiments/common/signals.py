"""Signals of the process, which only its main thread can handle."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

from maeil.forks import close_in_children


@contextmanager
def handled(handlers: Mapping[signal.Signals, Callable[[], None]]) -> Iterator[None]:
    """Handle signals while the context lasts, if this is the main thread; a forked child has the earlier handlers."""
    with close_in_children(ExitStack()) as earlier:
        if threading.current_thread() is threading.main_thread():
            for number, handle in handlers.items():
                earlier.callback(signal.signal, number, signal.signal(number, lambda *_, handle=handle: handle()))
        yield

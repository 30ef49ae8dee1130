"""Process signals, which only the main thread can handle."""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from types import FrameType
from typing import NoReturn

GRACE = 5.0
"""Seconds after which a command that was asked to end is interrupted again."""
_FORCE = 15.0
"""Seconds after which it is killed."""
_ENDING = (signal.SIGINT, signal.SIGTERM)


class _Handler:
    """A handler that may take its time to end the command, such as that of a sweep."""

    def __init__(self, handle: Callable[[], None], *, takes_time: bool) -> None:
        self._handle = handle
        self.takes_time = takes_time

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        self._handle()


@contextmanager
def handled(handlers: Mapping[signal.Signals, Callable[[], None]], *, takes_time: bool = False) -> Iterator[None]:
    """Handle signals while the context lasts, if this is the main thread; a forked child gets the earlier handlers.

    Args:
        handlers: callbacks by signal.
        takes_time: whether the callbacks may take any time to end the command, so that `one_signal_is_enough` does not
            interfere.
    """
    from quorum_base.forks import close_in_children  # noqa: PLC0415 (most commands handle none)

    with close_in_children(ExitStack()) as earlier:
        if threading.current_thread() is threading.main_thread():
            for number, handle in handlers.items():
                handler = _Handler(handle, takes_time=takes_time)
                earlier.callback(signal.signal, number, signal.signal(number, handler))
        yield


_COMMAND: ContextVar[bool] = ContextVar("command", default=False)
in_command = _COMMAND.get
"""Whether this process runs a command, which may end it, and not a program of the user."""


@contextmanager
def one_signal_is_enough() -> Iterator[None]:
    """End the command inside after one Ctrl-C or SIGTERM, whatever its code does.

    The first Ctrl-C only cancels the event loop's task, which code that does not return never notices, and code may
    swallow the exception. So a thread, which receives signals even if the main thread runs no Python code, interrupts
    again after `GRACE` seconds, and ends the process after `_FORCE` seconds.
    """
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    before = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    thread = threading.Thread(target=_see_to_end, args=(receiver, os.getpid()), name="quorum-signals", daemon=True)
    thread.start()
    token = _COMMAND.set(True)
    try:
        yield
    finally:
        _COMMAND.reset(token)
        with suppress(ValueError, OSError):
            signal.set_wakeup_fd(before)
        sender.close()
        thread.join(GRACE)
        receiver.close()


def _see_to_end(receiver: socket.socket, process: int) -> None:
    """Wait for a signal that ends the command, and enforce it; return when the command has ended."""
    while arrived := receiver.recv(1):
        number = arrived[0]
        handler = signal.getsignal(number) if number in _ENDING else None
        if handler is None or getattr(handler, "takes_time", False) or os.getpid() != process:
            continue
        if _ended(receiver, GRACE):
            return
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        if _ended(receiver, _FORCE - GRACE):
            return
        _end(number)


def _ended(receiver: socket.socket, seconds: float) -> bool:
    """Wait, and return whether the command ended meanwhile."""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        if select.select([receiver], [], [], left)[0] and not receiver.recv(1):
            return True
    return False


def _end(number: int) -> NoReturn:
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    where = f" at {frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""
    with suppress(OSError):
        os.write(2, f"\nended by force: the command did not end by itself; it was running{where}\n".encode())
    os._exit(128 + number)

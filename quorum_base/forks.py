"""What a process must not share with the children that it forks, and when it must not be forked.

A forked child has a copy of all memory and of all open files, and of all threads only the one that forked. So a lock
that another thread held is never released there, what that thread was changing stays half-changed, and files whose
owner has died stay open: with them the locks of the operating system that should have died with it.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Protocol, TypeVar
from weakref import WeakSet


class Closes(Protocol):
    """What can be closed."""

    def close(self) -> Any:
        """Let go of it."""


Owned = TypeVar("Owned", bound=Closes)
Lock = TypeVar("Lock", bound=Any)


def hold_in_forks(lock: Lock) -> Lock:
    """Let no thread fork while another one holds a lock that can be acquired again: a child gets it free, for good.

    Args:
        lock: of a module, for as long as the process lives.
    """
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


def close_in_children(owned: Owned) -> Owned:
    """Have something closed in children that are forked while it is in use: it belongs to this process alone."""
    with _CHANGING:
        _OWNED.add(owned)
    return owned


def _close_all() -> None:
    for owned in list(_OWNED):
        owned.close()
    _OWNED.clear()


_OWNED: WeakSet[Any] = WeakSet()
_CHANGING = hold_in_forks(threading.RLock())
os.register_at_fork(after_in_child=_close_all)

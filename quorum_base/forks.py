"""Fork safety: resources that forked children must not share, and locks during which no thread may fork.

A forked child has a copy of all memory and all open files, but only the thread that forked. A lock held by another
thread is never released in the child, and data that the thread was changing stays half-changed. Open files outlive
their owner, and with them the operating system's locks that should have ended with the owner.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Protocol, TypeVar
from weakref import WeakSet


class Closes(Protocol):
    """An object that can be closed."""

    def close(self) -> Any:
        """Release the resource."""


Owned = TypeVar("Owned", bound=Closes)
Lock = TypeVar("Lock", bound=Any)


def hold_in_forks(lock: Lock) -> Lock:
    """Prevent forks while another thread holds a reentrant lock, so that a child always gets the lock released.

    Args:
        lock: a module's lock, which lives as long as the process.
    """
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


def close_in_children(owned: Owned) -> Owned:
    """Close a resource in forked children, since it belongs to this process alone."""
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

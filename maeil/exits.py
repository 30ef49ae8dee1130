"""`sys.exit` in the code of a component: it would end the command, or an event loop, without a word."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Exited(Exception):
    """The code of a component called `sys.exit`; the cause is what that raised."""


@contextmanager
def without_exit() -> Iterator[None]:
    """Turn `sys.exit` in the code of components into an error like any other.

    Raises:
        Exited: it was called.
    """
    try:
        yield
    except SystemExit as error:
        raise Exited(describe_exit(error)) from error


def describe_exit(error: SystemExit) -> str:
    """Return what is wrong with code that raises it."""
    return f"it calls sys.exit({error.code!r}), which would end Quorum: raise an error instead"

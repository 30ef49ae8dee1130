"""How a component's code stops a run: it raises a `Stop`. `sys.exit` would end the whole command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Stop(Exception):
    """Ends the function that raises it, and all functions that run together with it."""

    @property
    def urgent(self) -> bool:
        """Whether the other functions are cancelled; otherwise they run to their end."""
        return True


class Exited(Exception):
    """The code of a component called `sys.exit`; the cause is the `SystemExit`."""


@contextmanager
def without_exit() -> Iterator[None]:
    """Turn `sys.exit` in the code of components into an error like any other.

    Raises:
        Exited: the code called `sys.exit`.
    """
    try:
        yield
    except SystemExit as error:
        raise Exited(describe_exit(error)) from error


def describe_exit(error: SystemExit) -> str:
    """Return the error message for code that calls `sys.exit`."""
    return f"it calls sys.exit({error.code!r}), which would end Quorum: raise an error instead"

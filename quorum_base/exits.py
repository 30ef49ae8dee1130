"""How the code of a component ends what runs: by a `Stop`, and not by `sys.exit`, which would end the whole command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Stop(Exception):
    """Ends the function that raises it and all that run together with it."""

    @property
    def urgent(self) -> bool:
        """Whether the others are cancelled; else they come to their end."""
        return True


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

"""Reports that kernels are being compiled, which takes much longer than loading them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from quorum_base.compilation.numba_alone import numba

_event: Any = numba.core.event


class _First(_event.Listener):  # type: ignore[misc] # Numba has no types
    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell: Callable[[], None] | None = tell

    def on_start(self, _: object) -> None:
        tell, self._tell = self._tell, None
        if tell is not None:
            tell()

    def on_end(self, _: object) -> None:
        pass


@contextmanager
def on_first_compilation(tell: Callable[[], None]) -> Iterator[None]:
    """Call a function once, when the first compilation starts; loading a cached kernel does not count."""
    with _event.install_listener("numba:compile", _First(tell)):
        yield

"""Kernels: functions that are compiled on their first call and cached for later processes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from quorum_base.compilation.cache import NoFolder, cache_folder, kernel_cache, warn_of_no_cache
from quorum_base.compilation.numba_alone import numba

_Function = TypeVar("_Function", bound=Callable[..., object])

BORROWING: dict[str, Any] = {"_nrt": False} if hasattr(numba.core.options.DefaultOptions, "_nrt") else {}
"""Turns off Numba's reference counting, if this version can: counting views costs more than the step itself."""

COMPILES: bool = not numba.core.config.DISABLE_JIT
"""Whether kernels are compiled. With `NUMBA_DISABLE_JIT=1` they are not, so a debugger can step through them."""


def as_written(function: _Function) -> _Function:
    """Return a kernel for plain Python: integer sums beyond 64 bits wrap around, as in compiled code."""
    return np.errstate(over="ignore")(function)


class KernelSet:
    """The kernels of a package. All of them are compiled again when one of their sources changes.

    Args:
        name: name of the package. With the digest of the sources it names the folder of compiled code.
        sources: every file with code that is compiled into a kernel: functions and the constants that they read.
        rehearsal: arguments of `quorum run` for short episodes that together call every kernel used by longer ones.
    """

    def __init__(self, name: str, sources: Sequence[Path], rehearsal: Sequence[str] = ()) -> None:
        self.name = name
        self.sources = tuple(sources)
        self.rehearsal = tuple(rehearsal)
        self.dispatchers: list[Any] = []
        """The compiled functions that Python calls, in order of definition."""

    def compiled(self, function: _Function) -> _Function:
        """Compile a function that Python calls: Numba's `njit`, cached on disk, with the function's own type."""
        return cast(_Function, self._kept(numba.njit(function)))

    def borrowing(self, function: _Function) -> _Function:
        """Like `compiled`, for a kernel that neither allocates nor returns arrays, but only borrows its arguments.

        Other kernels do not compile this way. Without reference counting, a batch of worlds steps about twice as fast.
        The kernel releases the GIL.
        """
        return cast(_Function, self._kept(numba.njit(nogil=True, **BORROWING)(function)))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the sources."""
        return hashlib.sha256(b"\0".join(source.read_bytes() for source in self.sources)).hexdigest()

    @cached_property
    def folder(self) -> Path | None:
        """Folder of the compiled code; None if it cannot be cached."""
        try:
            return cache_folder() / f"{self.name}-{self.digest[:16]}"
        except NoFolder as reason:
            warn_of_no_cache(str(reason))
            return None

    @cached_property
    def _cache(self) -> type[Any] | None:
        return kernel_cache(self.folder, lambda: self.digest) if self.folder is not None else None

    def _kept(self, compiled: Any) -> Any:
        if COMPILES:
            if self._cache is not None:
                compiled._cache = self._cache(compiled.py_func)
            self.dispatchers.append(compiled)
            return compiled
        return as_written(compiled)

"""Kernels: functions that are compiled when they are first called, and kept for later processes."""

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
"""Numba's switch for reference counts, where this version has it. Counting views costs more than a step itself."""

COMPILES: bool = not numba.core.config.DISABLE_JIT
"""Whether kernels are compiled: not with `NUMBA_DISABLE_JIT=1`, which lets a debugger step through them."""


def as_written(function: _Function) -> _Function:
    """Return a kernel as Python runs it: sums of integers that go beyond 64 bits wrap, as those of compiled code."""
    return np.errstate(over="ignore")(function)


class KernelSet:
    """The kernels of a package, which are renewed together when one of their sources changes.

    Args:
        name: of the package; of its folder of compiled code, with the digest of the sources.
        sources: every file of which something is compiled into a kernel: functions, and constants that they read.
        rehearsal: arguments of `quorum run` for short episodes, which together call every kernel that longer ones call.
    """

    def __init__(self, name: str, sources: Sequence[Path], rehearsal: Sequence[str] = ()) -> None:
        self.name = name
        self.sources = tuple(sources)
        self.rehearsal = tuple(rehearsal)
        self.dispatchers: list[Any] = []
        """The compiled functions that Python calls, in the order of their definition."""

    def compiled(self, function: _Function) -> _Function:
        """Return Numba's `njit` of a function, kept on disk, under the function's own type: for what Python calls."""
        return cast(_Function, self._kept(numba.njit(function)))

    def borrowing(self, function: _Function) -> _Function:
        """`compiled`, for a kernel that only borrows the arrays it is given: it allocates none and returns none.

        One that did would not compile. Without reference counts a batch of worlds is stepped about twice as fast. Other
        threads of Python go on in the meantime.
        """
        return cast(_Function, self._kept(numba.njit(nogil=True, **BORROWING)(function)))

    @cached_property
    def digest(self) -> str:
        """A hash of the sources."""
        return hashlib.sha256(b"\0".join(source.read_bytes() for source in self.sources)).hexdigest()

    @cached_property
    def folder(self) -> Path | None:
        """Where the compiled code is kept; None if it cannot be kept."""
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

"""Numba's cache of compiled functions, in a folder of ours."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from maeil.compilation.folder import WAY_OUT
from maeil.compilation.numba_alone import numba

caching: Any = numba.core.caching


class KernelCacheWarning(UserWarning):
    """Compiled kernels are not kept, so that each process compiles them again."""


def kernel_cache(folder: Path, stamp: Callable[[], str]) -> type[Any]:
    """Return the class of caches of one set of kernels, which takes the function that is compiled.

    Args:
        folder: where they are kept; made when the first is.
        stamp: returns the digest of all sources that went into one; others are out of date.
    """

    class Locator(caching._CacheLocator):  # type: ignore[misc] # Numba has no types
        def __init__(self, function: Any, file: str) -> None:
            self._py_file = file
            self._lineno = function.__code__.co_firstlineno

        def get_cache_path(self) -> str:
            return os.fspath(folder)

        def get_source_stamp(self) -> str:
            return stamp()

        def get_disambiguator(self) -> str:
            return str(self._lineno)

        def ensure_cache_path(self) -> None:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

        @classmethod
        def from_function(cls, function: Any, file: str) -> Locator:
            return cls(function, file)

    class Impl(caching.CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes = (Locator,)

    class KernelCache(caching.FunctionCache):  # type: ignore[misc]
        _impl_class = Impl

        def load_overload(self, signature: Any, context: Any) -> Any:
            try:
                return super().load_overload(signature, context)
            except Exception:  # whatever a damaged pickle raises, as after a power cut: it is compiled again
                self._forget()
                return None

        def save_overload(self, signature: Any, compiled: Any) -> None:
            try:
                super().save_overload(signature, compiled)
            except OSError as error:
                self._give_up(error)

        def _forget(self) -> None:
            try:
                self.flush()
            except OSError as error:
                self._give_up(error)

        def _give_up(self, error: OSError) -> None:
            self.disable()
            warn_of_no_cache(f"{folder}: {error.strerror}. {WAY_OUT}")

    return KernelCache


def warn_of_no_cache(reason: str) -> None:
    """Warn that what is compiled is not kept; Python shows equal warnings once."""
    warnings.warn(f"compiled kernels cannot be kept: {reason}", KernelCacheWarning, stacklevel=2)

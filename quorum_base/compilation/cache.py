"""Numba's cache of compiled functions, in a folder of ours."""

from __future__ import annotations

import os
import stat
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from quorum_base.compilation.numba_alone import numba
from quorum_base.user_cache import user_cache

WAY_OUT = "Set NUMBA_CACHE_DIR to a folder of yours that can be written to."


class NoFolder(Exception):
    """Compiled kernels cannot be kept, or not where only the user can write; the text says why, and what to set."""


def cache_folder() -> Path:
    """Return the folder of compiled kernels, and make it if need be.

    It is `kernels` in `$XDG_CACHE_HOME/quorum` or `~/.cache/quorum`, with access for its owner alone, or the folder
    that the variable `NUMBA_CACHE_DIR` names, which is taken as it is. What lies there is loaded as code.

    Raises:
        NoFolder: there is none and it cannot be made, or others can write to it.
    """
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        return Path(named).absolute()
    folder = Path("kernels")
    try:
        folder = user_cache() / folder
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        for part in (folder.parent, folder):
            _require_own(part)
    except OSError as error:
        raise NoFolder(f"{folder}: {error.strerror}. {WAY_OUT}") from error
    return folder


def _require_own(folder: Path) -> None:
    """Require that nobody but its owner, who is the user or root, can write to a folder.

    Raises:
        NoFolder: somebody can.
    """
    if os.name == "nt":
        return  # the home of a user is closed to others there, and says nothing in these bits
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in (0, os.geteuid()) or found.st_mode & 0o022:
        raise NoFolder(f"{folder}: others can write to it, and what lies there is run as code. {WAY_OUT}")


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
                # Numba would first import all that it compiles with, which takes longer than to import Numba itself.
                # What is loaded needs nothing of that but the runtime.
                numba.core.runtime.rtsys.initialize(context)
                with self._guard_against_spurious_io_errors():
                    return self._load_overload(signature, context)
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

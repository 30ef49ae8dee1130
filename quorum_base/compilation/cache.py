"""Numba's cache of compiled functions, in a folder of this project."""

from __future__ import annotations

import os
import stat
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from quorum_base.compilation.numba_alone import numba
from quorum_base.user_cache import user_cache

WAY_OUT = "Set NUMBA_CACHE_DIR to a folder of yours that you can write to."


class NoFolder(Exception):
    """There is no cache folder that only the user can write to; the message says why, and what to set."""


def cache_folder() -> Path:
    """Return the folder of compiled kernels; create it if necessary.

    The variable `NUMBA_CACHE_DIR` names the folder, which is then used as it is. The default is `kernels` in
    `$XDG_CACHE_HOME/quorum` or `~/.cache/quorum`, accessible to its owner only, since its contents are loaded as code.

    Raises:
        NoFolder: the folder cannot be created, or others can write to it.
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
    """Require that a folder belongs to the user or to root, and that only its owner can write to it.

    Raises:
        NoFolder: otherwise.
    """
    if os.name == "nt":
        return  # Windows protects the user's home by other means than these permission bits
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in (0, os.geteuid()) or found.st_mode & 0o022:
        raise NoFolder(f"{folder}: other users can write to it, and its files run as code. {WAY_OUT}")


caching: Any = numba.core.caching


class KernelCacheWarning(UserWarning):
    """Compiled kernels are not cached, so each process compiles them again."""


def kernel_cache(folder: Path, stamp: Callable[[], str]) -> type[Any]:
    """Return the cache class for one set of kernels; its constructor takes the function to compile.

    Args:
        folder: where compiled kernels are stored; created with the first one.
        stamp: returns the digest of all sources. Entries with another digest are out of date.
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
                # Numba would first import its whole compiler, which takes longer than importing Numba itself.
                # Cached code needs only the runtime.
                numba.core.runtime.rtsys.initialize(context)
                with self._guard_against_spurious_io_errors():
                    return self._load_overload(signature, context)
            except Exception:  # a pickle damaged by a power cut, say, can raise anything: compile again
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
    """Warn that compiled kernels are not cached; Python shows equal warnings once."""
    warnings.warn(f"compiled kernels cannot be kept: {reason}", KernelCacheWarning, stacklevel=2)

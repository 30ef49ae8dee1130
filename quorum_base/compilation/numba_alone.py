"""Numba, imported so that it reads nothing from the current folder.

Numba reads its configuration from `.numba_config.yaml` in the current folder, both on import and on every compilation.
That file can set the cache folder, from which Numba loads pickles and in which it overwrites files. So this module
imports `numba.core.config` with another name for the file, one that cannot exist. The environment variables `NUMBA_*`
are the user's own and stay in force.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from quorum_base.forks import hold_in_forks

_CONFIG = "numba.core.config"
_FILE = ".numba_config.yaml"
_NO_FILE = os.path.join(os.devnull, _FILE)
"""A path that cannot exist: the null device is not a folder."""


class _Finder(MetaPathFinder):
    """Finds one module, and has `_Loader` load it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _CONFIG:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(fullname, spec.loader.path)
        return spec


class _Loader(SourceFileLoader):
    """Loads a module with `_NO_FILE` instead of `_FILE`."""

    def get_code(self, fullname: str) -> CodeType | None:
        code = super().get_code(fullname)
        if code is None:
            return None
        return code.replace(co_consts=tuple(_NO_FILE if value == _FILE else value for value in code.co_consts))


def _import() -> Any:
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        import numba  # noqa: PLC0415 (only with this finder in place)
        import numba.core.compiler_lock  # noqa: PLC0415
        import numba.core.config  # noqa: PLC0415
    finally:
        sys.meta_path.remove(finder)
    numba.core.config._config_fname = _NO_FILE  # in case it was imported before, without the finder
    hold_in_forks(numba.core.compiler_lock.global_compiler_lock)
    return numba


numba: Any = _import()
"""The package. All code of this project imports it from here."""

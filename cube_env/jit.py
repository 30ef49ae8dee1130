"""Compilation of kernels."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar, cast

import numba
from numba.core.options import DefaultOptions

_Function = TypeVar("_Function", bound=Callable[..., object])

_BORROWING: dict[str, Any] = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}
"""Numba's switch for reference counts, where this version has it. Counting views costs more than a step itself."""


def compiled(function: _Function) -> _Function:
    """Numba's `njit` with the compiled code cached on disk, under the function's own type.

    Numba renews a cached function when the file it stands in changes, not the files it calls into: kernels that call
    each other stand in one file.
    """
    return cast(_Function, numba.njit(cache=True)(function))


def compiled_borrowing(function: _Function) -> _Function:
    """`compiled`, for a kernel that only borrows the arrays it is given: it allocates none and returns none.

    One that did would not compile. Without reference counts a batch of worlds is stepped about twice as fast.
    """
    return cast(_Function, numba.njit(cache=True, **_BORROWING)(function))


def compiled_parallel(function: _Function) -> _Function:
    """`compiled`, with `numba.prange` loops shared out among threads; compiled when it is first called.

    The cache tells functions apart by their names alone, so that the twin of one that is compiled without threads as
    well has a name of its own.
    """
    name = f"{function.__name__}_parallel"
    twin = FunctionType(function.__code__, function.__globals__, name)
    twin.__qualname__ = name
    return cast(_Function, numba.njit(cache=True, parallel=True)(twin))

"""Compilation of kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

_Function = TypeVar("_Function", bound=Callable[..., object])


def compiled(function: _Function) -> _Function:
    """Numba's `njit` with the compiled code cached on disk, under the function's own type.

    Numba renews a cached function when the file it stands in changes, not the files it calls into: kernels that call
    each other stand in one file.
    """
    return cast(_Function, numba.njit(cache=True)(function))

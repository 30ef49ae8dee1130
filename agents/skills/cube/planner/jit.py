"""Compilation of the planner's kernels, and the types of their arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.signedinteger[Any]]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]

_Function = TypeVar("_Function", bound=Callable[..., object])


def compiled(function: _Function) -> _Function:
    """Numba's `njit` with the compiled code cached on disk, under the function's own type.

    Numba renews a cached function when the file it stands in changes, not the files it calls into: kernels that call
    each other stand in one file.
    """
    return cast(_Function, numba.njit(cache=True)(function))

"""Compilation of kernels."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import types
from numba.core.options import DefaultOptions

_Function = TypeVar("_Function", bound=Callable[..., object])

_BORROWING: dict[str, Any] = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}
"""Numba's switch for reference counts, where this version has it. Counting views costs more than a step itself."""
_INNER: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, **_BORROWING}
_unliteral: Callable[[Any], Any] = types.unliteral
_PACKAGE = Path(__file__).resolve().parents[1]


def compiled(function: _Function) -> _Function:
    """Numba's `njit` with the compiled code cached on disk, under the function's own type: for what Python calls.

    Numba renews a cached function when the file it stands in changes, not the files that it calls into; here it does
    when any kernel or any table compiled into one has changed.
    """
    dispatcher = numba.njit(cache=True, **_BORROWING)(function)
    dispatcher._cache._cache_file._source_stamp = kernel_digest()
    return cast(_Function, dispatcher)


def inlined(function: _Function) -> _Function:
    """`inner`, for what is shorter than a call to it: a `World` is handed over as some fifty numbers."""
    return _inner(function, forceinline=True)


def inner(function: _Function) -> _Function:
    """Numba's `njit` for what only kernels call: it is cached as a part of them.

    It only borrows the arrays it is given, allocates none and returns none; one that did would not compile. Without
    reference counts a batch of worlds is stepped about twice as fast.

    Numba would compile a function again for every constant that it is called with, which takes minutes here; so it is
    shown their type alone. It also compiles no way in from Python.
    """
    return _inner(function, forceinline=False)


def _inner(function: _Function, *, forceinline: bool) -> _Function:
    dispatcher = numba.njit(forceinline=forceinline, **_INNER)(function)
    call_template = dispatcher.get_call_template

    def without_literals(args: tuple[Any, ...], kws: dict[str, Any]) -> object:
        return call_template(tuple(map(_unliteral, args)), {name: _unliteral(value) for name, value in kws.items()})

    dispatcher.get_call_template = without_literals
    return cast(_Function, dispatcher)


@cache
def kernel_digest() -> str:
    """A hash of the sources that compiled code depends on."""
    sources = [_PACKAGE / "constants.py", _PACKAGE / "profiles.py", *sorted((_PACKAGE / "kernels").glob("*.py"))]
    return hashlib.sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()

"""The kernels of this package and their compiler."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

from quorum_base.compilation import KernelSet, numba
from quorum_base.compilation.kernels import BORROWING, COMPILES, as_written

_Function = TypeVar("_Function", bound=Callable[..., object])

_INNER: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, **BORROWING}
_unliteral: Callable[[Any], Any] = numba.core.types.unliteral
_PACKAGE = Path(__file__).resolve().parents[1]

KERNELS = KernelSet(
    "crafter_env",
    [_PACKAGE / "constants.py", _PACKAGE / "profiles.py", *sorted((_PACKAGE / "kernels").glob("*.py"))],
    rehearsal=["env=crafter_coop n=2 agents=heuristic max_steps=4"],
)
"""All kernels, with the tables compiled into them."""

compiled = KERNELS.borrowing


def inlined(function: _Function) -> _Function:
    """Compile like `inner`, for functions shorter than a call: passing a `World` means passing about fifty numbers."""
    return _inner(function, forceinline=True)


def inner(function: _Function) -> _Function:
    """Compile a function that only kernels call with Numba's `njit`; it is cached as a part of them.

    Such a function only borrows its arrays, and allocates and returns none; otherwise it would not compile. Without
    reference counts, stepping a batch of worlds is about twice as fast.

    Numba would recompile a function for every constant argument, which takes minutes here, so it sees only their types.
    There is also no entry point from Python.
    """
    return _inner(function)


def estimating(function: _Function) -> _Function:
    """Compile like `inner`, for results that need not be exact in the last bits."""
    return _inner(function, fastmath=True)


def _inner(function: _Function, **options: bool) -> _Function:
    if not COMPILES:
        return as_written(function)
    dispatcher = numba.njit(**options, **_INNER)(function)
    call_template = dispatcher.get_call_template

    def without_literals(args: tuple[Any, ...], kws: dict[str, Any]) -> object:
        return call_template(tuple(map(_unliteral, args)), {name: _unliteral(value) for name, value in kws.items()})

    dispatcher.get_call_template = without_literals
    return cast(_Function, dispatcher)

"""Lets metrics share what they derive from a trace, so that it is computed once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from maeil.trace.reader import Trace

T = TypeVar("T")


def shared(derive: Callable[[Trace], T]) -> Callable[[Trace], T]:
    """Compute a function of the trace once for each trace."""

    @wraps(derive)
    def derive_once(trace: Trace) -> T:
        return trace.once(derive)

    return derive_once

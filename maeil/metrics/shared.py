"""Lets metrics share what they derive from a trace, so that it is computed once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar

from maeil.trace.reader import Trace

T = TypeVar("T")

_Memo = tuple[Trace, dict[Callable[[Trace], Any], Any]]
_MEMO: ContextVar[_Memo | None] = ContextVar("memo", default=None)


@contextmanager
def sharing(trace: Trace) -> Iterator[None]:
    """Keep what is derived from this very trace until the block is left."""
    token = _MEMO.set((trace, {}))
    try:
        yield
    finally:
        _MEMO.reset(token)


def shared(derive: Callable[[Trace], T]) -> Callable[[Trace], T]:
    """Compute a function of the trace once inside of `sharing`; outside, at every call."""

    @wraps(derive)
    def derive_once(trace: Trace) -> T:
        memo = _MEMO.get()
        if memo is None or memo[0] is not trace:
            return derive(trace)
        derived = memo[1]
        if derive not in derived:
            derived[derive] = derive(trace)
        found: T = derived[derive]
        return found

    return derive_once

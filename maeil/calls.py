"""Language model calls, as the loop sees them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Call:
    """One language model call, as the cognitive clock and the metrics need it.

    Attributes:
        completion_tokens: tokens written by the model: the cost of a thought in the clock's default unit.
        record: all other data about the call, JSON-ready.
        reasoning_tokens: the completion tokens that were reasoning.
    """

    completion_tokens: int
    record: Mapping[str, Any]
    reasoning_tokens: int = 0

    def noted(self, **notes: object) -> Call:
        """Return the call with additional JSON-ready data in its record."""
        return replace(self, record={**self.record, **notes})


class LedgerEntry(Protocol):
    """A call in a ledger, completed while it is under way."""

    @property
    def call(self) -> Call | None:
        """The call so far; None before the model has answered."""


class Ledger:
    """The calls of one thought, in the order in which they started.

    A thought that completes can report its calls itself, with details (`Thought.calls`). A thought that does not
    complete (it fails, is cancelled or exceeds a budget) reports nothing, but its answers still have to be paid for.
    """

    def __init__(self) -> None:
        self._entries: list[LedgerEntry] = []

    def enter(self, entry: LedgerEntry) -> None:
        """Enter a call that starts now."""
        self._entries.append(entry)

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls so far."""
        return tuple(call for entry in self._entries if (call := entry.call) is not None)


_LEDGER: ContextVar[Ledger] = ContextVar("ledger")


@contextmanager
def entered_in(ledger: Ledger) -> Iterator[None]:
    """Enter the calls made in this context in a ledger, including those of tasks started in it."""
    token = _LEDGER.set(ledger)
    try:
        yield
    finally:
        _LEDGER.reset(token)


def current_ledger() -> Ledger:
    """Return the ledger of the current thought; outside of thoughts, a new ledger that is discarded."""
    return _LEDGER.get(None) or Ledger()

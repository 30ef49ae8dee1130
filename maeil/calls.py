"""The calls of language models, as far as the loop knows of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a language model, as the cognitive clock and the metrics need it.

    Attributes:
        completion_tokens: tokens written by the model: the cost of a thought in the clock's default unit.
        record: everything else that is known of the call, JSON-ready.
        reasoning_tokens: those of the completion tokens that were thoughts.
    """

    completion_tokens: int
    record: Mapping[str, Any]
    reasoning_tokens: int = 0

    def noted(self, **notes: object) -> Call:
        """Return the call with more in its record, JSON-ready."""
        return replace(self, record={**self.record, **notes})


class LedgerEntry(Protocol):
    """A call in a ledger, of which more is known as it goes on."""

    @property
    def call(self) -> Call | None:
        """The call as far as it is known; None while nobody was asked, or nothing was answered yet."""


class Ledger:
    """The calls of one thought as they are made, in the order in which they began.

    A thought that comes to its end reports its calls itself, with what it made of them (`Thought.calls`). One that does
    not (a budget is used up, it is cancelled, it fails) reports nothing, and what was answered is paid all the same.
    """

    def __init__(self) -> None:
        self._entries: list[LedgerEntry] = []

    def enter(self, entry: LedgerEntry) -> None:
        """Enter a call that begins."""
        self._entries.append(entry)

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls so far."""
        return tuple(call for entry in self._entries if (call := entry.call) is not None)


_LEDGER: ContextVar[Ledger] = ContextVar("ledger")


@contextmanager
def entered_in(ledger: Ledger) -> Iterator[None]:
    """Have the calls that are made inside, in tasks started there as well, entered in a ledger."""
    token = _LEDGER.set(ledger)
    try:
        yield
    finally:
        _LEDGER.reset(token)


def current_ledger() -> Ledger:
    """Return the ledger of the thought under way; one that nobody reads where none is."""
    return _LEDGER.get(None) or Ledger()

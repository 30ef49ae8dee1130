"""The calls of language models, as far as the loop knows of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a language model, as the cognitive clock and the metrics need it.

    Attributes:
        completion_tokens: tokens written by the model: the cost of a thought in the clock's default unit.
        record: everything else that is known of the call, JSON-ready.
    """

    completion_tokens: int
    record: Mapping[str, Any]


class LedgerEntry:
    """What is known so far of one call, which its model keeps up to date while it is under way.

    Attributes:
        call: the call; None while nothing is known: nobody was asked, or nothing was answered yet.
    """

    __slots__ = ("call",)

    def __init__(self) -> None:
        self.call: Call | None = None


class Ledger:
    """The calls of one thought as they are made, in the order in which they began.

    A thought that comes to its end tells its calls itself, with what it made of them (`Thought.calls`). One that does
    not (a budget is used up, it is cancelled, it fails) tells nothing, and what was answered is paid all the same.
    """

    def __init__(self) -> None:
        self._entries: list[LedgerEntry] = []

    def open(self) -> LedgerEntry:
        """Enter a call that begins."""
        entry = LedgerEntry()
        self._entries.append(entry)
        return entry

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls so far."""
        return tuple(entry.call for entry in self._entries if entry.call is not None)


_LEDGER: ContextVar[Ledger] = ContextVar("ledger")


@contextmanager
def entered_in(ledger: Ledger) -> Iterator[None]:
    """Have the calls that are made inside, in tasks begun there as well, entered in a ledger."""
    token = _LEDGER.set(ledger)
    try:
        yield
    finally:
        _LEDGER.reset(token)


def current_ledger() -> Ledger:
    """Return the ledger of the thought under way; one that nobody reads where none is."""
    return _LEDGER.get(None) or Ledger()

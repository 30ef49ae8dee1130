"""Count which messages were read or passed over, by sender, recipient and kind."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from maeil.trace.events import MessageSent, MessagesRead


@dataclass(slots=True)
class _Counts:
    """Counts of the messages of one kind from one participant to another."""

    sent: int = 0
    read: int = 0
    passed_over: int = 0
    read_late: int = 0


@dataclass(slots=True)
class Traffic:
    """Counts messages by sender, recipient and kind.

    A recipient passes a message over if, without having read it, it commits a plan at a later cognitive time than that
    of the delivery. It may still read the message later.
    """

    _counts: defaultdict[tuple[int, int, str], _Counts] = field(default_factory=lambda: defaultdict(_Counts))
    _mailboxes: defaultdict[int, dict[int, MessageSent]] = field(default_factory=lambda: defaultdict(dict))
    _passed_over: set[tuple[int, int]] = field(default_factory=set)
    """Messages passed over in mailboxes: message and recipient."""

    def sent(self, event: MessageSent) -> None:
        """Record a message."""
        for recipient in event.recipients:
            self._counts[event.sender, recipient, event.what].sent += 1
            self._mailboxes[recipient][event.message] = event

    def read(self, event: MessagesRead) -> None:
        """Record that messages are read."""
        for number in event.messages:
            unread = self._mailboxes[event.agent].pop(number, None)
            if unread is None:  # the trace is damaged
                continue
            counts = self._counts[unread.sender, event.agent, unread.what]
            counts.read += 1
            if (number, event.agent) in self._passed_over:
                self._passed_over.remove((number, event.agent))
                counts.read_late += 1

    def plan_committed(self, agent: int, t_hat: float) -> list[int]:
        """Record that an agent commits a plan; return the messages that it passes over now."""
        passed = []
        for message, unread in self._mailboxes[agent].items():
            if unread.delivered_at < t_hat and (message, agent) not in self._passed_over:
                self._passed_over.add((message, agent))
                self._counts[unread.sender, agent, unread.what].passed_over += 1
                passed.append(message)
        return passed

    def rows(self) -> list[tuple[Any, ...]]:
        """Return all counts so far, by sender, recipient and kind."""
        return [
            (*pair, counts.sent, counts.read, counts.passed_over, counts.read_late)
            for pair, counts in sorted(self._counts.items())
        ]

"""The events of healers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from maeil.trace.events import Event


@dataclass(frozen=True, slots=True)
class HealerActed(Event):
    """A healer says something to agents.

    Attributes:
        note: its number, from 0.
        healer: which, by the name of its pattern.
        action: `annotate`: it is put on messages that were sent; `create`: it is a separate one.
        recipients: whom it addresses, ascending.
        content: the text.
        messages: ids of the messages that it is put on.
        subject: the target of the task that it is about; empty where there is none.
        handlers: who is to go on with it, or whom to listen to.
    """

    kind: ClassVar[str] = "heal"
    note: int
    healer: str
    action: str
    recipients: Sequence[int]
    content: str
    messages: Sequence[int]
    subject: str
    handlers: Sequence[int]


@dataclass(frozen=True, slots=True)
class HealerHeard(Event):
    """An agent reads what a healer has said, at the start of the first thought that sees it."""

    kind: ClassVar[str] = "heal_read"
    note: int
    agent: int

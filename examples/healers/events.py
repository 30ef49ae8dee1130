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
        healer: name of the healer's pattern.
        action: `annotate`: the text is attached to messages already sent; `create`: it is a separate message.
        recipients: the addressed agents, ascending.
        content: the text.
        messages: ids of the annotated messages.
        subject: the target of the task concerned; empty if there is none.
        handlers: the agents that should continue with it, or that the recipients should listen to.
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
    """An agent reads a healer's remark, at the start of the first thought that sees it."""

    kind: ClassVar[str] = "heal_read"
    note: int
    agent: int

"""The event of control arms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from maeil.trace.events import Agent, Event


@dataclass(frozen=True, slots=True)
class ControlRead(Event):
    """In a control arm, a participant reads something else in place of a message.

    Attributes:
        message: number of the message.
        agent: who reads it.
        content: what it reads instead; null: it finds no message.
    """

    kind: ClassVar[str] = "control_read"
    message: int
    agent: Agent
    content: str | None

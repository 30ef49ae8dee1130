"""The event of control arms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from maeil.trace.events import Event


@dataclass(frozen=True, slots=True)
class ControlRead(Event):
    """A participant has read something else in the place of a message.

    Attributes:
        message: number of the message.
        agent: who has read.
        content: what it has read; None: it has found no message.
    """

    kind: ClassVar[str] = "control_read"
    message: int
    agent: int
    content: str | None

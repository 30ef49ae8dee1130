"""What the skills of a world offer to the arm `truth`: the role `statements`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from maeil.messages import Message
from maeil.plans import Plan, Task


@dataclass(frozen=True, slots=True)
class Statement:
    """A true statement.

    Attributes:
        content: its text.
        task: the task that it is about, as plans name it; None where it is about none.
    """

    content: str
    task: Task | None = None


class Statements(Protocol):
    """States by rule what is true of the senders of messages; the same for the same state of the world."""

    def __call__(self, messages: Sequence[Message], plans: Sequence[Plan | None]) -> Sequence[Statement]:
        """Return what is true now, a statement for each message.

        Args:
            messages: in whose place they are read. A sender may have no body; a directive says what its readers are to
                do.
            plans: the live plan of each agent, None where there is none.
        """

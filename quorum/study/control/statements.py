"""What the skills of a world offer to the arm `truth`: the role `statements`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from maeil.messages import Message
from maeil.plans import Plan, Task


class Statements(Protocol):
    """States by rule what is true of the senders of messages; the same for the same state of the world."""

    def __call__(self, messages: Sequence[Message], plans: Sequence[Plan | None]) -> Sequence[tuple[str, Task | None]]:
        """Return a true statement for each message: its text, and the task that it is about, as plans name it.

        Args:
            messages: the messages that the statements replace. A sender may have no body; a directive says what its
                readers are to do.
            plans: the live plan of each agent, None for an agent without one.
        """

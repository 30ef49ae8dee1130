"""What the skills of a world offer to the arm `truth`: the role `statements`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from maeil.messages import Message
from maeil.plans import Plan, Task


class Statements(Protocol):
    """Makes true statements about the senders of messages by rule; equal world states give equal statements."""

    def __call__(self, messages: Sequence[Message], plans: Sequence[Plan | None]) -> Sequence[tuple[str, Task | None]]:
        """Return a true statement for each message: its text and its task, as plans name it.

        Args:
            messages: the messages that the statements replace. A sender may have no body; a directive instructs its
                readers.
            plans: the live plan of each agent, None for an agent without one.
        """

"""Messages between agents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from maeil.plans import Task
from maeil.tasks import OpenTask


class MessageKind(StrEnum):
    """What a message does."""

    INFORM = "inform"
    PROPOSE = "propose"
    DIRECTIVE = "directive"
    ACK = "ack"
    REQUEST = "request"
    FEEDBACK = "feedback"


@dataclass(frozen=True, slots=True)
class Ask:
    """What a message asks of one of the others.

    Attributes:
        agent: index of the participant.
        task: what it is asked to do.
    """

    agent: int
    task: Task

    def plain(self) -> dict[str, Any]:
        """Return it JSON-ready."""
        return {"agent": self.agent, "task": self.task.plain()}


@dataclass(frozen=True, slots=True)
class Draft:
    """A message as a mind writes it: not yet sent.

    Attributes:
        recipients: indices of those who shall read it; a broadcast is one draft with many recipients.
        content: the text.
        kind: what the message does.
        task: what its author says that it does itself; None where it says nothing of the kind.
        asks: what it asks of others; None where its author does not say: then the text alone holds what it claims and
            asks, and no rule reads it.
    """

    recipients: tuple[int, ...]
    content: str
    kind: MessageKind = MessageKind.INFORM
    task: Task | None = None
    asks: tuple[Ask, ...] | None = None

    def in_words(self, names: Sequence[str]) -> str:
        """Return the text that its readers get: what only the fields say follows the content.

        Args:
            names: of all participants by index.
        """
        content, said = self.content, _words(self.content)
        if self.asks is None:
            return content
        if self.task is not None and _words(self.task.target) not in said:
            content += f" My task: {self.task.kind} {self.task.target}."
        for ask in self.asks:
            addressed = self.recipients == (ask.agent,) or _words(names[ask.agent]) in said
            if not addressed or _words(ask.task.target) not in said:
                content += f" {names[ask.agent]}: {ask.task.kind} {ask.task.target}."
        return content.strip()


_WORD = re.compile(r"[^\W_]+")


def _words(text: str) -> str:
    """Fold a text, so that `block_3` is in `Take Block 3!`, and not in `block_31`."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


@dataclass(frozen=True, slots=True)
class Message:
    """A message that was sent.

    Attributes:
        id: number of the message in its episode, from 0.
        sender: index of the participant who sent it.
        recipients: indices of those it goes to, ascending.
        content: the text.
        kind: what the message does.
        t: environment step in which it was sent.
        sent_at: cognitive time of the send.
        delivered_at: cognitive time at which it lies in the mailboxes.
        constraints: the open tasks when it was sent, where the topology attaches them.
        task: what its sender says that it does itself.
        asks: what it asks of others; None where that is known by its text alone.
    """

    id: int
    sender: int
    recipients: tuple[int, ...]
    content: str
    kind: MessageKind
    t: int
    sent_at: float
    delivered_at: float
    constraints: tuple[OpenTask, ...] = ()
    task: Task | None = None
    asks: tuple[Ask, ...] | None = None

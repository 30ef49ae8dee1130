"""Messages between agents."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

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
class Draft:
    """A message as a mind writes it: not yet sent.

    Attributes:
        recipients: indices of those who shall read it; a broadcast is one draft with many recipients.
        content: the text.
        kind: what the message does.
        task: the one task that it is about, where its author says so in a form that rules can count: it proposes the
            task, or commits itself to it.
    """

    recipients: tuple[int, ...]
    content: str
    kind: MessageKind = MessageKind.INFORM
    task: Task | None = None


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
        task: the one task that it is about, where its author says so.
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

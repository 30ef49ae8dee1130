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
    """The purpose of a message."""

    INFORM = "inform"
    PROPOSE = "propose"
    DIRECTIVE = "directive"
    ACK = "ack"
    REQUEST = "request"
    FEEDBACK = "feedback"


@dataclass(frozen=True, slots=True)
class Ask:
    """A request to one participant within a message.

    Attributes:
        agent: index of the participant.
        task: the task that it should do.
    """

    agent: int
    task: Task

    def to_json(self) -> dict[str, Any]:
        """Return the request as JSON-ready data."""
        return {"agent": self.agent, "task": self.task.to_json()}


@dataclass(frozen=True, slots=True)
class Draft:
    """A message as written by a mind, not yet sent.

    Attributes:
        recipients: indices of the recipients; a broadcast is one draft with many recipients.
        content: the text.
        kind: purpose of the message.
        task: the task that the author commits to; None if it states none.
        asks: requests to others. None if the author does not list them: then commitments and requests are in the text
            only, which no rule reads.
    """

    recipients: tuple[int, ...]
    content: str
    kind: MessageKind = MessageKind.INFORM
    task: Task | None = None
    asks: tuple[Ask, ...] | None = None

    def in_words(self, names: Sequence[str]) -> str:
        """Return the text for the recipients: the content, followed by what only `task` and `asks` state.

        Args:
            names: names of all participants, by index.
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
    """Normalize a text for comparison by words: `block_3` is in `Take Block 3!`, but not in `block_31`."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


@dataclass(frozen=True, slots=True)
class Message:
    """A message that was sent.

    Attributes:
        id: number of the message in its episode, from 0.
        sender: index of the sender.
        recipients: indices of the recipients, ascending.
        content: the text.
        kind: purpose of the message.
        t: environment step in which it was sent.
        sent_at: cognitive time of sending.
        delivered_at: cognitive time of arrival in the mailboxes.
        constraints: the open tasks at the time of sending, if the topology attaches them.
        task: the task that the sender commits to.
        asks: requests to others; None if only the text states them.
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

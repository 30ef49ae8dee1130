"""What an agent has heard and said in the communication room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from maeil.messages import Draft, Message, MessageKind
from maeil.mind import View
from maeil.plans import Task
from quorum.agents.drwell.answers import Choice


@dataclass(slots=True)
class Room:
    """The proposals and the last commitments of a negotiation, by agent.

    They are read from messages: the task as data, the reason as the text that it is.
    """

    proposals: dict[int, Message | Draft] = field(default_factory=dict)
    commitments: dict[int, Task] = field(default_factory=dict)

    def hear(self, messages: Sequence[Message]) -> None:
        """Take in what was said."""
        for message in messages:
            if message.task is None:
                continue
            if message.kind is MessageKind.PROPOSE:
                self.proposals[message.sender] = message
            elif message.kind is MessageKind.ACK:
                self.commitments[message.sender] = message.task

    def propose(self, view: View, choice: Choice) -> Draft:
        """Return the message of a proposal, and keep it."""
        text = f"I propose {choice.task}: {choice.why}"
        self.proposals[view.agent] = draft = Draft(view.turn.recipients, text, MessageKind.PROPOSE, choice.task)
        return draft

    def commit(self, view: View, choice: Choice) -> Draft:
        """Return the message of a commitment, and keep it."""
        self.commitments[view.agent] = choice.task
        return Draft(view.turn.recipients, f"I commit myself to {choice.task}.", MessageKind.ACK, choice.task)

    def shown(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the blocks of a prompt that tell it, JSON-ready."""
        said = {names[agent]: proposal.content for agent, proposal in sorted(self.proposals.items())}
        committed = {names[agent]: str(task) for agent, task in sorted(self.commitments.items())}
        return {"proposals": said, "commitments": committed}

"""The contract of a topology: who may write to whom, and whose turn it is. It is data and order, never a loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from maeil.messages import MessageKind
from maeil.mind import Turn


@dataclass(frozen=True, slots=True)
class TurnTaken:
    """A turn that is over.

    Attributes:
        turn: the turn.
        messages: how many messages were sent in it.
        recipients: whom they went to.
        kinds: what they did.
    """

    turn: Turn
    messages: int
    recipients: frozenset[int] = frozenset()
    kinds: frozenset[MessageKind] = frozenset()


class ConversationState(Protocol):
    """The state of a conversation, as a topology may read it.

    A conversation is all that is thought and said from the moment when an agent needs a decision until all agents are
    ready. Agents have the indices `0 .. agents-1`; coordinators, who have no body, the indices behind them.
    """

    @property
    def t(self) -> int:
        """Environment step."""
        ...

    @property
    def agents(self) -> int:
        """Number of embodied agents."""
        ...

    @property
    def participants(self) -> int:
        """Number of agents and coordinators."""
        ...

    @property
    def opened_by(self) -> Sequence[int]:
        """Agents that needed a decision when the conversation began, ascending."""
        ...

    @property
    def undecided(self) -> Sequence[int]:
        """Agents in R or I that are not thinking just now, ascending: they need a turn before the world can go on."""
        ...

    @property
    def taken(self) -> Sequence[TurnTaken]:
        """Turns that have ended in this conversation, in order."""
        ...

    @property
    def quiet(self) -> bool:
        """Whether nobody is thinking and no message is on its way."""
        ...

    def may_speak(self, participant: int) -> bool:
        """Whether a participant can be given a turn: an agent in R or I, or a coordinator with thoughts left.

        Nobody who is thinking can.
        """
        ...

    def unread(self, participant: int) -> int:
        """Number of messages in the mailbox of a participant."""
        ...

    def sent(self, participant: int) -> int:
        """Number of messages that a participant has sent in this environment step."""
        ...

    def distance(self, agent: int, other: int) -> float | None:
        """Distance between two agents in the world's own measure; None where it has none."""
        ...


class Topology(Protocol):
    """A communication structure.

    `turns` is asked whenever the cognitive clock has come to rest at an instant; it is a pure function of the
    state of the conversation. The conversation is over when it gives no turn, none is under way, and no message is in
    flight.
    """

    name: str
    coordinated: bool
    """Whether a coordinator has a place in it."""

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Give the turns that begin now, at most one a participant, none for one that is thinking."""
        ...

"""The contract of a topology: who may write to whom, and in which order. It defines turns, but never runs the loop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

from maeil.messages import Draft, MessageKind
from maeil.mind import Act, Turn
from maeil.plans import Task
from maeil.tasks import OpenTask


@dataclass(frozen=True, slots=True)
class TurnTaken:
    """A turn that is over.

    Attributes:
        turn: the turn.
        messages: number of messages sent in it.
        recipients: recipients of these messages.
        kinds: kinds of these messages.
        task: task of the last message; None if it names none.
    """

    turn: Turn
    messages: int
    recipients: frozenset[int] = frozenset()
    kinds: frozenset[MessageKind] = frozenset()
    task: Task | None = None

    @classmethod
    def of(cls, turn: Turn, sent: Sequence[Draft]) -> TurnTaken:
        """Return the record of a turn in which these messages were sent."""
        recipients = frozenset(recipient for draft in sent for recipient in draft.recipients)
        return cls(
            turn, len(sent), recipients, frozenset(draft.kind for draft in sent), sent[-1].task if sent else None
        )


class ConversationState(Protocol):
    """The state of a conversation for topologies.

    A conversation comprises all thoughts and messages from when an agent needs a decision until all agents are ready.
    Agents have the indices `0 .. agents-1`; coordinators, which have no body, have the following ones.
    """

    @property
    def t(self) -> int:
        """Environment step."""

    @property
    def agents(self) -> int:
        """Number of embodied agents."""

    @property
    def participants(self) -> int:
        """Number of agents and coordinators."""

    @property
    def opened_by(self) -> Sequence[int]:
        """Agents that needed a decision when the conversation started, ascending."""

    @property
    def undecided(self) -> Sequence[int]:
        """Agents in R or I that are not currently thinking, ascending: the world waits until each has had a turn."""

    @property
    def taken(self) -> Sequence[TurnTaken]:
        """Turns that have ended in this conversation, in order."""

    def found_by(self, extension: str) -> Any:
        """Return an extension's data for topologies; None if the episode does not use the extension."""

    @property
    def quiet(self) -> bool:
        """Whether no participant is thinking and no message is in flight."""

    def may_speak(self, participant: int) -> bool:
        """Whether a participant may get a turn: an agent in R or I, or a coordinator with thoughts left.

        A participant that is thinking may not.
        """

    def sent(self, participant: int) -> int:
        """Number of messages that a participant has sent in this environment step."""

    def distance(self, agent: int, other: int) -> float | None:
        """Distance between two agents in the world's own measure; None if it has none."""

    def open_tasks(self) -> Sequence[OpenTask]:
        """Return the current open tasks, as turns with feedback show them."""


def everyone_but(agent: int, conversation: ConversationState) -> tuple[int, ...]:
    """Return all agents except one, ascending: its recipients if all agents may write to each other."""
    return tuple(other for other in range(conversation.agents) if other != agent)


def turns_with(act: Act, conversation: ConversationState) -> Counter[int]:
    """Count the turns with an act that each participant has had in this conversation."""
    return Counter(taken.turn.agent for taken in conversation.taken if act in taken.turn.acts)


class Topology(ABC):
    """A communication structure: who has a turn, and who may write to whom. The base of every topology.

    A conversation is over when `turns` returns no turn, none is under way, and no message is in flight.
    """

    name: str
    """Name under which it is registered."""
    coordinated: bool = False
    """Whether it has a coordinator, a mind without a body."""
    leader: int | None = None
    """Index of the leading agent; None if there is none, or if a coordinator leads."""
    dialogue: bool = False
    """Whether the agents take turns to speak until a message of the kind `directive` states the joint plan. Otherwise,
    a coordinator directs."""
    negotiates: bool = False
    """Whether it assigns tasks to agents according to the tasks named in their commitments, before they plan."""
    talks: bool = True
    """Whether its turns allow messages."""
    feedback: bool = False
    """Whether its turns show the open tasks."""
    asks: frozenset[str] = frozenset()
    """Names of the extensions that want an answer in its turns (`Turn.asks`)."""
    embeds: bool = False
    """Whether minds add embeddings to their answers to these extensions."""
    words: str = "The agents of this team may talk to each other as their turns allow."
    """The prompt's description of how the team talks."""
    words_by_role: Mapping[str, str] = MappingProxyType({})
    """Descriptions for participants with a role in the topology, by role; they replace `words`."""
    rounds: int | None = None
    """How often participants may speak: each speaker of a dialogue in total, or a coordinator in answer to
    acknowledgements. None for no numeric limit."""

    @abstractmethod
    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return the turns that start now: at most one per participant, and none for a participant that is thinking.

        The loop calls it after all events of an instant have taken effect. It must be a pure function of the state of
        the conversation.
        """

    def describe(self, role: str) -> str:
        """Return the prompt's description of how the team talks: that of the role, or `words`.

        Args:
            role: the participant's role in the topology, from its turn; empty if all are equal.
        """
        return self.words_by_role.get(role, self.words)

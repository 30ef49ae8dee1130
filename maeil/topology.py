"""The contract of a topology: who may write to whom, and whose turn it is. It is data and order, never a loop."""

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
        messages: how many messages were sent in it.
        recipients: whom they went to.
        kinds: what they did.
        task: the task that the last of them is about; None where it names none.
    """

    turn: Turn
    messages: int
    recipients: frozenset[int] = frozenset()
    kinds: frozenset[MessageKind] = frozenset()
    task: Task | None = None

    @classmethod
    def of(cls, turn: Turn, sent: Sequence[Draft]) -> TurnTaken:
        """Return what is known of a turn in which these messages were sent."""
        recipients = frozenset(recipient for draft in sent for recipient in draft.recipients)
        return cls(
            turn, len(sent), recipients, frozenset(draft.kind for draft in sent), sent[-1].task if sent else None
        )


class ConversationState(Protocol):
    """The state of a conversation, as a topology may read it.

    A conversation is all that is thought and said from the moment when an agent needs a decision until all agents are
    ready. Agents have the indices `0 .. agents-1`; coordinators, who have no body, the indices behind them.
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
        """Agents that needed a decision when the conversation began, ascending."""

    @property
    def undecided(self) -> Sequence[int]:
        """Agents in R or I that are not thinking just now, ascending: they need a turn before the world can go on."""

    @property
    def taken(self) -> Sequence[TurnTaken]:
        """Turns that have ended in this conversation, in order."""

    def found_by(self, extension: str) -> Any:
        """Return what an extension offers to topologies in this conversation; None without the extension."""

    @property
    def quiet(self) -> bool:
        """Whether nobody is thinking and no message is on its way."""

    def may_speak(self, participant: int) -> bool:
        """Whether a participant can be given a turn: an agent in R or I, or a coordinator with thoughts left.

        Nobody who is thinking can.
        """

    def sent(self, participant: int) -> int:
        """Number of messages that a participant has sent in this environment step."""

    def distance(self, agent: int, other: int) -> float | None:
        """Distance between two agents in the world's own measure; None where it has none."""

    def open_tasks(self) -> Sequence[OpenTask]:
        """Return the tasks that matter now, as turns with feedback show them."""


def everyone_but(agent: int, conversation: ConversationState) -> tuple[int, ...]:
    """Return all agents but one, ascending: whom it can write to where everybody may write to everybody."""
    return tuple(other for other in range(conversation.agents) if other != agent)


def turns_with(act: Act, conversation: ConversationState) -> Counter[int]:
    """Return how many turns with an act each participant has had in this conversation."""
    return Counter(taken.turn.agent for taken in conversation.taken if act in taken.turn.acts)


class Topology(ABC):
    """A communication structure: whose turn it is, and who may write to whom.

    The base of every topology. A conversation is over when `turns` gives no turn, none is under way, and no message is
    in flight.
    """

    name: str
    """Name under which it is registered."""
    coordinated: bool = False
    """Whether a coordinator, a mind without a body, has a place in it."""
    leader: int | None = None
    """Index of the agent that leads; None where none does, or a coordinator."""
    dialogue: bool = False
    """Whether the floor goes round until a message of the kind `directive` states the joint plan. Where it does not, a
    coordinator directs."""
    negotiates: bool = False
    """Whether it counts the tasks that commitments name, and allots by them what each then plans for."""
    talks: bool = True
    """Whether its turns let anybody write to anybody."""
    feedback: bool = False
    """Whether its turns show the open tasks."""
    asks: frozenset[str] = frozenset()
    """Names of the extensions that its turns ask for (`Turn.asks`)."""
    embeds: bool = False
    """Whether minds add embeddings to what they answer to these extensions."""
    words: str = "The agents of this team may talk to each other as their turns allow."
    """What a prompt says about the way in which the team talks."""
    words_by_role: Mapping[str, str] = MappingProxyType({})
    """What it says instead to those who have a part in the topology, by their role."""
    rounds: int | None = None
    """How often those who talk may speak again: each speaker of a dialogue in all, a coordinator in answer to
    acknowledgements. None: the topology does not bound it by a number."""

    @abstractmethod
    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return the turns that begin now, at most one a participant, none for one that is thinking.

        It is asked whenever the cognitive clock has come to rest at an instant, and is a pure function of the state of
        the conversation.
        """

    def describe(self, role: str) -> str:
        """Return what a prompt says to a participant about how its team talks: the words of its role, or `words`.

        Args:
            role: its part in the topology, as the turn says; empty where all are equal.
        """
        return self.words_by_role.get(role, self.words)

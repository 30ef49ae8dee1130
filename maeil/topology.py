"""The contract of a topology: who may write to whom, and whose turn it is. It is data and order, never a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from maeil.mind import Turn
from maeil.stages import Stage


class Floor(Protocol):
    """The state of a conversation, as a topology may read it.

    A conversation is all that is thought and said in one environment step.
    """

    @property
    def t(self) -> int:
        """Environment step."""
        ...

    @property
    def agents(self) -> int:
        """Number of embodied agents: indices `0 .. agents-1`. Coordinators have the indices behind them."""
        ...

    @property
    def participants(self) -> int:
        """Number of agents and coordinators."""
        ...

    @property
    def undecided(self) -> Sequence[int]:
        """Agents in R or I that are not thinking just now, ascending: they need a turn before the world can go on."""
        ...

    @property
    def turns(self) -> Sequence[Turn]:
        """Turns that have ended in this conversation, in order."""
        ...

    @property
    def thinking(self) -> bool:
        """Whether a turn is under way."""
        ...

    def stage(self, agent: int) -> Stage:
        """Stage of an agent."""
        ...

    def unread(self, agent: int) -> int:
        """Number of messages in the mailbox of a participant."""
        ...

    def sent(self, agent: int) -> int:
        """Number of messages that a participant has sent in this environment step."""
        ...


class Topology(Protocol):
    """A communication structure.

    `turns` is asked whenever the cognitive clock has come to rest at an instant; it is a pure function of the floor.
    The conversation is over when it gives no turn, none is under way, and no message is in flight.
    """

    name: str
    coordinated: bool
    """Whether a coordinator has a place in it."""

    def turns(self, floor: Floor) -> Sequence[Turn]:
        """Give the turns that begin now, at most one a participant, none for one that is thinking."""
        ...

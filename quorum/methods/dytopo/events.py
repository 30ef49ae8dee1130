"""The events of offers and needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from maeil.trace.events import Agent, Event, Number


@dataclass(frozen=True, slots=True)
class Described(Event):
    """An agent says what it offers and needs, in the topologies `dytopo` and `random`.

    Attributes:
        agent: the agent that describes itself.
        offers: its `text`, its `tasks`, and whether it is `free`.
        needs: its `text` and its `tasks`.
    """

    kind: ClassVar[str] = "described"
    agent: Agent
    offers: Mapping[str, Any]
    needs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Routed(Event):
    """The topology matches needs with offers and decides who writes to whom.

    Attributes:
        matcher: name of the matcher.
        agents: the agents that described themselves since the last match, ascending.
        scores: one row per needing agent, one column per offering agent, to six decimals.
        edges: pairs of a sender and a recipient.
    """

    kind: ClassVar[str] = "routed"
    matcher: str
    agents: Sequence[Agent]
    scores: Sequence[Sequence[Number]]
    edges: Sequence[tuple[Agent, Agent]]

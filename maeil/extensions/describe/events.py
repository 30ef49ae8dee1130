"""The events of offers and needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from maeil.trace.events import Event, Number


@dataclass(frozen=True, slots=True)
class Described(Event):
    """An agent has said what it offers and needs.

    Attributes:
        offers: `text`, `tasks`, and whether the agent is `free`.
        needs: `text` and `tasks`.
    """

    kind: ClassVar[str] = "described"
    agent: int
    offers: Mapping[str, Any]
    needs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Routed(Event):
    """Needs were held against offers, and it was settled who writes to whom.

    Attributes:
        matcher: what they were held against each other by.
        agents: those who have described themselves since the last time, ascending.
        scores: a row for each of them, of how well each of them offers what it needs, to six decimals.
        edges: the index of a sender and that of a recipient each.
    """

    kind: ClassVar[str] = "routed"
    matcher: str
    agents: Sequence[int]
    scores: Sequence[Sequence[Number]]
    edges: Sequence[tuple[int, int]]

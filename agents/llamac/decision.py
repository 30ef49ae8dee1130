"""A decision of the TripletCritic while it is being made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from maeil.calls import Call
from maeil.plans import Plan
from quorum.agents.coordination.joint import Joint, Proposal, Sight


@dataclass(slots=True)
class Decision:
    """A decision in the making.

    Attributes:
        sight: the state.
        asked: agents that need a plan, ascending: those who carry out no suggestion.
        running: what is left of the plans of the others.
        key: tells this conversation from the next.
        calls: of the thought under way.
        retries: internal retries left.
        rounds: external retries left.
        plans: the suggestion as it stands.
        critics: what the critics proposed, by role.
        dialogue: what has been suggested and objected, JSON-ready.
    """

    sight: Sight
    asked: tuple[int, ...]
    running: dict[int, Plan]
    key: object
    retries: int
    rounds: int
    calls: list[Call] = field(default_factory=list)
    plans: dict[int, Plan] = field(default_factory=dict)
    critics: dict[str, Proposal] = field(default_factory=dict)
    dialogue: list[dict[str, Any]] = field(default_factory=list)

    def joint(self, plans: Mapping[int, Plan]) -> Joint:
        """Put plans beside those that are under way."""
        return Joint(plans, self.running)

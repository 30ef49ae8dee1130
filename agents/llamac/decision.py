"""A decision of the critics in the making: who is asked about, what is under way, and what has been proposed so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from maeil.calls import Call
from maeil.plans import Plan
from quorum.agents.coordination.joint import Joint, Proposal, Rejection, Sight


@dataclass(slots=True)
class Decision:
    """A decision in the making.

    Attributes:
        sight: the state.
        asked: agents that need a plan, ascending: those who carry out no suggestion, and those whose plan was recalled.
        running: what is left of the plans of the others.
        key: tells this conversation from the next.
        calls: of the thought under way.
        retries: internal retries left.
        rounds: external retries left.
        plans: the suggestion as it stands.
        critics: what the critics proposed, by role.
        dialogue: what has been suggested and objected, JSON-ready.
        recalled: agents whose plans were under way, and conflict without anybody's part in the suggestion.
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
    recalled: set[int] = field(default_factory=set)

    def joint(self, plans: Mapping[int, Plan]) -> Joint:
        """Put plans beside those that are under way."""
        return Joint(plans, self.running)

    def recall(self, agents: Iterable[int]) -> None:
        """Take plans that are under way for plans that can be changed."""
        found = self.running.keys() & set(agents)
        self.recalled |= found
        self.asked = tuple(sorted({*self.asked, *found}))
        self.running = {agent: plan for agent, plan in self.running.items() if agent not in found}

    def recall_offenders(self, rejections: Iterable[Rejection]) -> None:
        """Recall the plans of conflicts that no agent who is asked about takes part in: only they can be changed."""
        for rejection in rejections:
            if not set(rejection.agents) & set(self.asked):
                self.recall(rejection.agents)

"""One joint plan of several: for each agent what most have for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from maeil.plans import Plan


class Merge(Protocol):
    """A rule that makes one joint plan of several."""

    def __call__(self, proposals: Sequence[Mapping[int, Plan]], asked: Sequence[int]) -> dict[int, Plan]:
        """Merge.

        Args:
            proposals: one joint plan a debater, in order.
            asked: the agents that they are for.
        """
        ...


def majority(proposals: Sequence[Mapping[int, Plan]], asked: Sequence[int]) -> dict[int, Plan]:
    """Take for each agent the plan that most have for it; of equally many that of the lowest debater.

    Plans are equal when task and actions are. To have none for an agent is a vote that it waits.
    """
    merged = {}
    for agent in asked:
        votes = [proposal.get(agent) for proposal in proposals]
        keys = [(plan.task, plan.actions) if plan is not None else None for plan in votes]
        winner = votes[keys.index(max(keys, key=keys.count))]
        if winner is not None:
            merged[agent] = winner
    return merged

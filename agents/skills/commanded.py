"""Minds of a team that is commanded: what one of them does, the team object decides."""

from __future__ import annotations

from collections.abc import Callable

from maeil.contracts import check_type
from maeil.mind import Thought, View
from maeil.plans import Plan


class CommandedMind:
    """The mind of one agent, which asks its team for every plan. It sends no messages.

    Args:
        decide: returns the plan for a view; None where the turn asks for none.
    """

    def __init__(self, decide: Callable[[View], Plan | None]) -> None:
        self._decide = decide

    async def think(self, view: View) -> Thought:
        """Ask the team."""
        plan = self._decide(view)
        return Thought(plan if plan is None else check_type(plan, Plan, self._decide, "a maeil.Plan, or None"))

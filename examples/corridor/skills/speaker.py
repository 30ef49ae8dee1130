"""The simulated model's answers in a corridor."""

from __future__ import annotations

from collections.abc import Mapping

from corridor.actions import VOCABULARY, Rest, Walk
from corridor.skills.walking import END, walk
from corridor.world import Sight
from maeil import Plan, Thought, View
from quorum.agents.skills import Chooser, JointPlanRequest, Speaker, take_turn

TIRED = Plan((Rest(),), END, "I am tired")
"""A poor choice."""


class CorridorSpeaker(Speaker[Sight]):
    """Walks to the end and announces it."""

    observation = Sight
    vocabulary = VOCABULARY
    needs = frozenset({"walk"})

    def answer(self, view: View, chooser: Chooser) -> Thought:
        """Answer a turn. A coordinator without a body has no corridor and says nothing."""
        assert isinstance(view.observation, Sight)
        if not view.observation.agent:
            return Thought()
        plan = TIRED if chooser.is_poor() else walk(view.observation)
        return take_turn(view, plan, "I am there.")

    def propose(self, request: JointPlanRequest) -> Mapping[int, Plan]:
        """Return a joint plan: every requested agent walks to the end."""
        left = request.state["left"]
        plans = {agent: Plan((Walk(cells=left[agent]),), END, "to the end") for agent in request.asked if left[agent]}
        return plans | dict.fromkeys(request.drawn_at_random(), TIRED)

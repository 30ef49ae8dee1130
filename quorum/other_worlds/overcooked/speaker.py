"""The simulated speaker in Overcooked: it reads the kitchen in the prompt, and takes up the job that the rules give it.

All agents see the whole kitchen, so that most of their jobs fit together without a word; what others say that they
fetch, it does not fetch, too.
"""

from __future__ import annotations

import re

import orjson

from maeil.mind import Thought, View
from maeil.plans import Plan
from overcooked_env import DISPENSERS, VOCABULARY, Fetch, KitchenObservation, Wait
from quorum.agents.skills.chooser import Chooser
from quorum.agents.skills.speaker import JointPlanRequest, Speaker, take_turn
from quorum.other_worlds.overcooked.teams import Jobs

_LACKS = re.compile(r"\bit lacks (onion|tomato)\b|\b(a soup is on the fire)")
IDLE = 6
"""Cost of waiting for a step instead of a job, in steps."""


class OvercookedSpeaker(Speaker[KitchenObservation]):
    """Does its own part of what the greedy rule has the agents do."""

    observation = KitchenObservation
    vocabulary = VOCABULARY
    needs = frozenset(VOCABULARY.names)

    def answer(self, view: View, chooser: Chooser) -> Thought:
        """Answer a turn: plan, say so, and resume when interrupted."""
        seen = self.seen(view)
        if view.agent not in seen.cells:
            return take_turn(view, Plan((Wait(),), None, "it has no body"), seen.text())
        plan = _plan(seen, view.agent, _heard(view), chooser)
        held = seen.held[view.agent]
        return take_turn(view, plan, f"I hold {held}." if held else "I hold nothing.")

    def propose(self, request: JointPlanRequest) -> dict[int, Plan]:
        """Make a joint plan by the greedy rule, agent by agent; each knows what those before it fetch."""
        seen = self.read_observation(orjson.dumps(request.state).decode())
        running = ((k, action) for k, plan in request.running.items() for action in plan["actions"])
        brings = {k: action["item"] for k, action in running if action["action"] == "fetch"}
        plans: dict[int, Plan] = {}
        for agent in request.asked:
            plans[agent] = Jobs(seen, agent, brings).plan()
            if isinstance(action := plans[agent].actions[0], Fetch):
                brings[agent] = action.item
        for agent in request.drawn_at_random():
            plans[agent] = _anything(seen, agent, request.chooser)
        return plans


def _plan(seen: KitchenObservation, agent: int, brings: dict[int, str], chooser: Chooser) -> Plan:
    if chooser.is_poor():
        return _anything(seen, agent, chooser)
    job = Jobs(seen, agent, brings).plan()
    return chooser.least((job, Plan((Wait(),), None, "the others do it")), lambda plan: 0 if plan is job else IDLE)


def _anything(seen: KitchenObservation, agent: int, chooser: Chooser) -> Plan:
    """Return a job without a thought for the others: to fetch any item in reach, or to put down what is in the hand."""
    reach = seen.reach(agent)
    items = [item for item in DISPENSERS if seen.having(item) & reach]
    if seen.held[agent] or not items:
        return Jobs(seen, agent, {}).put_down("drawn at random")
    return Plan((Fetch(item=chooser.any_of(items)),), None, "drawn at random")


def _heard(view: View) -> dict[int, str]:
    """Return what others have said in this step that they fetch."""
    said = (
        (m.sender, found) for m in (*view.memory, *view.unread) if m.t == view.t for found in _LACKS.finditer(m.content)
    )
    return {sender: found[1] or "dish" for sender, found in said if sender != view.agent}

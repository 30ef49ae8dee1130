"""The simulated speaker in Overcooked: it reads the kitchen in the prompt and takes the job assigned by the rules.

All agents see the whole kitchen, so most of their jobs fit together without messages. It does not fetch items that
others say they fetch.
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
"""Cost in steps of waiting for a step instead of taking a job."""


class OvercookedSpeaker(Speaker[KitchenObservation]):
    """Takes its own job under the greedy rule."""

    observation = KitchenObservation
    vocabulary = VOCABULARY
    needs = frozenset(VOCABULARY.names)

    def answer(self, view: View, chooser: Chooser) -> Thought:
        """Answer a turn: plan, announce the plan, and resume if interrupted."""
        seen = self.seen(view)
        if view.agent not in seen.cells:
            return take_turn(view, Plan((Wait(),), None, "it has no body"), seen.text())
        plan = _plan(seen, view.agent, _heard(view), chooser)
        held = seen.held[view.agent]
        return take_turn(view, plan, f"I hold {held}." if held else "I hold nothing.")

    def propose(self, request: JointPlanRequest) -> dict[int, Plan]:
        """Make a joint plan by the greedy rule, agent by agent; each knows what the earlier ones fetch."""
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
    """Return a job regardless of the others: fetch a random item in reach, or put down the held item."""
    reach = seen.reach(agent)
    items = [item for item in DISPENSERS if seen.having(item) & reach]
    if seen.held[agent] or not items:
        return Jobs(seen, agent, {}).put_down("drawn at random")
    return Plan((Fetch(item=chooser.any_of(items)),), None, "drawn at random")


def _heard(view: View) -> dict[int, str]:
    """Return the items that others have said in this step that they fetch."""
    said = (
        (m.sender, found) for m in (*view.memory, *view.unread) if m.t == view.t for found in _LACKS.finditer(m.content)
    )
    return {sender: found[1] or "dish" for sender, found in said if sender != view.agent}

"""The simulated speaker in level-based foraging: it reads the field in the prompt and plans by the greedy rule.

Agents that all see the whole field plan alike, so groups form without messages. Agents with less sight announce the
food they load and its level, meet at the first food they know of, and walk to a random cell if nobody came.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import orjson

from lbf_env import Cell, ForagingObservation, GoTo, Load, Wait, food_cell
from maeil.actions import Vocabulary
from maeil.mind import Thought, View
from maeil.plans import Plan, PlanStatus
from quorum.agents.skills.chooser import Chooser
from quorum.agents.skills.speaker import JointPlanRequest, Speaker, take_turn
from quorum.other_worlds.foraging.statements import report
from quorum.other_worlds.foraging.teams import groups, loading, waiting

_REPORT = re.compile(r"\b(food_\d+_\d+) has level (\d+)")
LOST = 4
"""Cost of a food other than the greedy rule's, in steps lost by the agents that wait there."""


class ForagingSpeaker(Speaker[ForagingObservation]):
    """Takes its own part in the greedy rule's plan for all agents it sees."""

    observation = ForagingObservation
    vocabulary = Vocabulary(GoTo, Load, Wait)
    needs = frozenset({"go_to", "load", "wait"})

    def answer(self, view: View, chooser: Chooser) -> Thought:
        """Answer a turn: plan, announce the plan, and resume if interrupted."""
        seen = self.seen(view)
        if view.agent in seen.cells:
            return take_turn(view, _plan(view, seen, chooser), "I look for food.")
        return take_turn(view, waiting("it has no body"), report(seen))

    def propose(self, request: JointPlanRequest) -> dict[int, Plan]:
        """Make a joint plan by the greedy rule; the explorer skips the food that can be loaded soonest if possible."""
        seen = self.read_observation(orjson.dumps(request.state).decode())
        taken = {food_cell(plan["task"]["target"]) for plan in request.running.values() if "task" in plan}
        foods = {food: level for food, level in seen.food_levels.items() if food not in taken}
        found = groups(seen, request.asked, foods)
        if request.role == "explorer" and found:
            soonest = next(iter(found.values()))
            found = groups(seen, request.asked, {one: foods[one] for one in foods if one != soonest}) or found
        plans = {agent: _load(seen, food, foods[food], "the nearest are sent") for agent, food in found.items()}
        for agent in request.drawn_at_random() if foods else ():
            food = request.chooser.any_of(list(foods))
            plans[agent] = _load(seen, food, foods[food], "drawn at random")
        return plans


def _plan(view: View, seen: ForagingObservation, chooser: Chooser) -> Plan:
    """Return an agent's plan from what it sees and has heard in this step."""
    foods = {**_heard(view, seen), **seen.food_levels}
    if foods and chooser.is_poor():
        food = chooser.any_of(list(foods))
        return _load(seen, food, foods[food], "it is as good as any")
    aim = groups(seen, seen.cells, foods).get(view.agent)
    if aim is None and seen.sight < seen.side:
        gave_up = bool(view.outcomes) and view.outcomes[-1].status is PlanStatus.FAILED
        if gave_up or not foods:
            field = ((row, col) for row in range(seen.side) for col in range(seen.side))
            row, col = chooser.any_of([cell for cell in field if cell not in foods])
            return Plan((GoTo(row=row, col=col),), None, "to see more of the field")
        aim = min(foods)
    if aim is None:
        return waiting("no food that is left needs me now")
    food = chooser.least((aim, *(food for food in foods if food != aim)), lambda food: 0 if food == aim else LOST)
    return _load(seen, food, foods[food], "and I am one of those who go there")


def _heard(view: View, seen: ForagingObservation) -> Mapping[Cell, int]:
    """Return the foods out of sight that others have named in this step."""
    named = (found for m in (*view.memory, *view.unread) if m.t == view.t for found in _REPORT.findall(m.content))
    foods = {cell: int(level) for name, level in named if (cell := food_cell(name)) is not None}
    return {cell: level for cell, level in foods.items() if seen.may_hold_food(cell, view.agent)}


def _load(seen: ForagingObservation, food: Cell, level: int, rationale: str) -> Plan:
    return loading(food, level, 2 * seen.side, rationale)

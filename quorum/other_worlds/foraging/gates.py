"""The gates of level-based foraging: groups must have sufficient levels, have room, and wait for each other.

LLaMAC (arXiv 2311.13884) names the two gates; docs/llamac.md defines the rules.
"""

from __future__ import annotations

from pathlib import Path

from lbf_env import Cell, ForagingObservation, Load, distance, food_name
from maeil.mind import Observation
from maeil.plans import Plan
from quorum.agents.coordination.joint import Joint, Rejection, Sight, called
from quorum.agents.skills.contract import read_rules
from quorum.other_worlds.foraging.teams import SIDES


class ForagingGates:
    """Implements `quorum.agents.skills.Gates` for level-based foraging, by the first food that each plan loads."""

    rules = read_rules(Path(__file__).with_name("rules.yaml"))

    def scrutinize(self, sight: Sight, joint: Joint) -> list[Rejection]:
        """Judge the group of each food that a requested agent loads."""
        field, found = _field(sight.global_observation), []
        groups: dict[Cell, list[int]] = {}
        for agent, plan in sorted(joint.all.items()):
            if (load := _load(plan)) is not None:
                groups.setdefault((load.row, load.col), []).append(agent)
        for food, group in groups.items():
            level, agents = field.food_levels.get(food, 0), tuple(group)
            has = sum(field.levels[agent] for agent in agents)
            if not joint.plans.keys() & set(agents):
                continue
            if has < level:
                text = f"{food_name(food)} has level {level}, and {called(agents)} have {has} in all"
                found.append(Rejection("V-QUORUM", agents, text))
            elif len(agents) > SIDES:
                text = f"{food_name(food)} has room for {SIDES} agents, and {called(agents)} go there"
                found.append(Rejection("V-ROOM", agents, text))
        return found

    def confirm(self, agent: int, observation: Observation, joint: Joint) -> Rejection | None:
        """Judge an agent's plan from its view of the food and of the other agents that load it."""
        seen, load = _field(observation), _load(joint.plans[agent])
        if load is None:
            return None
        food = load.row, load.col
        if not seen.may_hold_food(food, agent):
            return Rejection("C-AVAIL", (agent,), f"there is no food in row {load.row}, column {load.col}")
        partners = [one for one, plan in joint.all.items() if (load := _load(plan)) and (load.row, load.col) == food]
        late = max(distance(seen.cells[one], food) for one in partners if one in seen.cells)
        wait = late - distance(seen.cells[agent], food)
        own = _load(joint.plans[agent])
        if own is not None and own.patience < wait:
            text = f"the last of its partners is there {wait} steps after it: patience {own.patience} is too little"
            return Rejection("C-WAIT", (agent,), text)
        return None


def _field(observation: Observation) -> ForagingObservation:
    assert isinstance(observation, ForagingObservation)
    return observation


def _load(plan: Plan) -> Load | None:
    return next((action for action in plan.actions if isinstance(action, Load)), None)

"""A greedy rule that assigns agents to foods, and the team commanded by it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from lbf_env import Cell, ForagingObservation, Load, Wait, distance, food_name
from maeil.mind import View
from maeil.plans import Plan, PlanStatus, Task
from maeil.world import World
from quorum.agents.skills.contract import CommandedMind

SIDES = 4
"""Number of agents that fit next to a food."""


def groups(seen: ForagingObservation, free: Collection[int], foods: Mapping[Cell, int]) -> dict[int, Cell]:
    """Return the food assigned to each agent that should load one.

    Foods are assigned in the order in which their groups can be complete; each group consists of the nearest agents
    with sufficient levels.

    Args:
        seen: agents' positions and levels.
        free: agents that can be assigned.
        foods: the level of each unassigned food.
    """
    left, rest, found = dict(foods), set(free), dict[int, Cell]()
    while True:
        possible = {food: group for food, level in left.items() if (group := _group(seen, rest, food, level))}
        if not possible:
            return found
        food = min(possible, key=lambda food: (max(distance(seen.cells[one], food) for one in possible[food]), food))
        found.update(dict.fromkeys(possible[food], food))
        rest.difference_update(possible[food])
        del left[food]


def _group(seen: ForagingObservation, free: Collection[int], food: Cell, level: int) -> list[int]:
    """Return a minimal group of the nearest agents with sufficient levels for a food; empty if there is none."""
    levels = seen.levels
    nearest = sorted(free, key=lambda one: (distance(seen.cells[one], food), one))
    for count in range(1, len(nearest) + 1):
        group = sorted(nearest[:count], key=lambda one: -levels[one])[:SIDES]
        over = sum(levels[one] for one in group) - level
        if over >= 0:
            for one in reversed([one for one in nearest if one in group]):
                if levels[one] <= over:
                    group.remove(one)
                    over -= levels[one]
            return group
    return []


def loading(food: Cell, level: int, patience: int, rationale: str) -> Plan:
    """Return a plan to load a food."""
    name = food_name(food)
    text = f"{name} has level {level}, {rationale}"
    return Plan((Load(row=food[0], col=food[1], patience=patience),), Task("load", name), text)


def waiting(rationale: str) -> Plan:
    """Return a plan to wait for a step."""
    return Plan((Wait(),), None, rationale)


class HarvestTeam:
    """Commands all agents of a team; its minds share the assignments and send no messages.

    Args:
        world: the world; the team sees its whole field, whatever its agents see.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.minds = tuple(CommandedMind(self._decide) for _ in world.agents)
        self._food_of: dict[int, Cell] = {}

    def _decide(self, view: View) -> Plan:
        field = self._world.global_observation()
        assert isinstance(field, ForagingObservation)
        gave_up = bool(view.outcomes) and view.outcomes[-1].status is PlanStatus.FAILED
        return self.plan(view.agent, field, gave_up=gave_up)

    def plan(self, agent: int, field: ForagingObservation, *, gave_up: bool) -> Plan:
        """Return an agent's next plan.

        Args:
            agent: its index.
            field: the whole field.
            gave_up: whether its last plan failed, in which case its group is formed again.
        """
        levels, own = field.food_levels, self._food_of.get(agent)
        over = {own} if gave_up else set()
        self._food_of = {one: food for one, food in self._food_of.items() if food in levels and food not in over}
        if agent not in self._food_of:
            free = field.cells.keys() - self._food_of.keys()
            untaken = {food: level for food, level in levels.items() if food not in self._food_of.values()}
            self._food_of |= groups(field, free, untaken)
        food = self._food_of.get(agent)
        if food is None:
            return waiting("no food that is left needs me now")
        return loading(food, levels[food], 2 * field.side, "and my group is the first there")

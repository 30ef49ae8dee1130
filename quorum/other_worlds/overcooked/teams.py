"""A greedy rule that assigns the next job to each agent, and the team commanded by it.

A job is a task for an agent's hands: serve a soup, bring a dish or an ingredient to a pot, or fetch an item that no
other agent brings yet. An agent that cannot reach an item's destination puts it on a counter that others can reach.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from maeil.actions import SymbolicAction
from maeil.mind import View
from maeil.plans import Plan, Task
from maeil.world import World
from overcooked_env import (
    DISPENSERS,
    INGREDIENTS,
    Cell,
    Cook,
    Fetch,
    Fill,
    GoTo,
    Item,
    KitchenObservation,
    PutDown,
    Scoop,
    Serve,
    Wait,
    distance,
    kind_of,
    missing,
    neighbours,
    places,
    pot_name,
)
from quorum.agents.skills.contract import CommandedMind


class Jobs:
    """The open jobs in a kitchen, as one agent sees them.

    Args:
        seen: the kitchen.
        agent: the agent that needs a job.
        brings: items that other agents with empty hands are known to fetch.
    """

    def __init__(self, seen: KitchenObservation, agent: int, brings: Mapping[int, str]) -> None:
        self.seen = seen
        self.agent = agent
        self.own = seen.cells[agent]
        self.reach = seen.reach(agent)
        self.others = {k: cell for k, cell in seen.cells.items() if k != agent}
        self.held = {k: kind_of(item or brings.get(k, "")) for k, item in seen.held.items() if k != agent}
        self.at_fire = {k for k in self.others if seen.reach(k) & seen.contents.keys()}
        self.pots = sorted(self.reach & seen.contents.keys(), key=lambda pot: (distance(pot, self.own), pot))
        self.fires = sorted((left, pot) for pot, (_, left) in seen.contents.items() if left is not None)
        self.dishes = len(self.fires) - self._supply("dish")
        """Number of dishes needed beyond those that others bring."""

    def plan(self) -> Plan:
        """Return the agent's next plan."""
        hand = kind_of(self.seen.held[self.agent])
        if not hand:
            return self._with_empty_hand()
        if hand == "soup":
            return _plan("the soup is done", Serve()) if self.reach & self._cells("S") else self._pass_on("S")
        if not self.pots:
            return self._pass_on("P")
        return self._with_dish() if hand == "dish" else self._with_ingredient(hand)

    def _with_dish(self) -> Plan:
        """Take the soup that is ready first, except those for other agents' dishes; put down a surplus dish."""
        first = sum(self.seen.held[k] == "dish" for k in self.at_fire if k < self.agent)
        for row, col in [pot for _, pot in self.fires if pot in self.reach][first:]:
            return _plan("I have a dish for its soup", Scoop(row=row, col=col, patience=120), pot=(row, col))
        return self.put_down("nothing is on the fire for my dish")

    def _with_ingredient(self, hand: str) -> Plan:
        """Fill the nearest pot that lacks the held ingredient; put it down if all hands are full and one is needed."""
        for pot in self.pots:
            if self._lacking(pot)[hand]:
                return _plan(f"it lacks {hand}", Fill(row=pot[0], col=pot[1]), pot=pot)
        is_helped = any(not self.seen.held[k] for k in self.at_fire)
        if not is_helped and (self.dishes > 0 or self._to_cook() or not self.fires):
            return self.put_down("my hand is needed")
        return self._rest("the pots are full")

    def _with_empty_hand(self) -> Plan:
        """Cook, or fetch what no agent brings yet: a soup on a counter, dishes, then ingredients."""
        for pot in self._to_cook():
            if self._is_nearest({pot}):
                return _plan("it is full", Cook(row=pot[0], col=pot[1]), pot=pot)
        if self._can_get("soup") and self.reach & self._cells("S"):
            return _plan("a soup is to be served", Fetch(item="soup"))
        if self._can_get("dish") and self._is_nearest(self.seen.having("dish"), self.dishes):
            return _plan("a soup is on the fire", Fetch(item="dish"), pot=self.fires[0][1])
        for is_next in (False, True)[: 1 + (self.dishes <= 0)]:
            lacking = {pot: self._lacking(pot, is_next=is_next) for pot in self.seen.contents}
            for item in INGREDIENTS:
                count = sum(lacks[item] for lacks in lacking.values()) - self._supply(item)
                if self._can_get(item) and self._is_nearest(self.seen.having(item), count):
                    wanting = next(pot for pot, lacks in lacking.items() if lacks[item])
                    return _plan(f"it lacks {item}", Fetch(item=item), pot=wanting)
        return self._rest("there is nothing for me to do")

    def _lacking(self, pot: Cell, *, is_next: bool = False) -> Counter[str]:
        """Return what a pot lacks for its best order; with `is_next`, for the soup after the one on the fire."""
        ingredients, left = self.seen.contents[pot]
        if is_next != (left is not None):
            return Counter()
        there = {item for item in INGREDIENTS if self.seen.having(item) or item in self.seen.held.values()}
        orders = [order for order in self.seen.orders if there.issuperset(order[0].split("+"))]
        return missing(orders, "" if is_next else ingredients)

    def _to_cook(self) -> list[Cell]:
        """Return the reachable pots that are ready to cook, including those from which no order can be made."""
        found = ((pot, *self.seen.contents[pot]) for pot in self.pots)
        return [pot for pot, has, left in found if has and left is None and not self._lacking(pot)]

    def _supply(self, item: str) -> int:
        """Return how many of an item others hold; for an agent without a reachable pot, also those on counters."""
        lying = () if self.pots else map(kind_of, self.seen.lying.values())
        return [*lying, *self.held.values()].count(item)

    def _can_get(self, item: Item) -> bool:
        """Return whether an item is in reach; an agent without a reachable pot takes only soups from counters."""
        cells = self.seen.having(item) & self.reach
        return bool(cells if self.pots or item == "soup" else cells - self.seen.lying.keys())

    def _is_nearest(self, cells: Collection[Cell], count: int = 1) -> bool:
        """Return whether the agent is among the `count` empty-handed agents nearest to some cells."""
        idle = {k: cell for k, cell in self.others.items() if not self.held[k] and self.seen.reach(k) & set(cells)}
        far = {k: min(distance(cell, at) for cell in cells) for k, at in {**idle, self.agent: self.own}.items()}
        return self.agent in sorted(far, key=lambda k: (far[k], k))[: max(count, 0)]

    def _pass_on(self, letter: str) -> Plan:
        """Put the held item on the nearest counter from which others can reach the cells of a letter."""
        reached = (self.seen.reach(k) for k in self.others)
        takers = {cell for reach in reached if reach & self._cells(letter) for cell in reach}
        return self.put_down("others can take it from there", takers)

    def put_down(self, why: str, among: Collection[Cell] | None = None) -> Plan:
        """Put the held item on the nearest free counter, optionally among some cells."""
        free = (self.reach & self._cells("X")) - self.seen.lying.keys()
        cells = free if among is None else free & set(among)
        if not cells:
            return self._rest("no counter is free")
        row, col = min(cells, key=lambda cell: (distance(cell, self.own), cell))
        return _plan(why, PutDown(row=row, col=col))

    def _rest(self, why: str) -> Plan:
        """Wait where no agent works; if every cell is a workplace, on the one farthest from the others."""
        busy = {
            cell for letter in (*DISPENSERS.values(), "P", "S") for at in self._cells(letter) for cell in neighbours(at)
        }
        free = (self.reach & self._cells(" ")) - set(self.others.values())
        if self.own not in busy or not self.others:
            return _plan(why, Wait())
        far = {cell: -min(distance(cell, other) for other in self.others.values()) for cell in free}
        quiet = {cell: distance(cell, self.own) for cell in free - busy}
        row, col = min(quiet or far, key=lambda cell: ((quiet or far)[cell], cell))
        return _plan(why, GoTo(row=row, col=col, patience=1) if (row, col) != self.own else Wait())

    def _cells(self, letter: str) -> set[Cell]:
        return set(places(self.seen.grid, letter))


def _plan(rationale: str, *actions: SymbolicAction, pot: Cell | None = None) -> Plan:
    return Plan(actions, Task("soup", pot_name(pot)) if pot is not None else None, rationale)


class CookingTeam:
    """Commands all agents of a team; its minds share the items each fetches and send no messages.

    Args:
        world: the world whose kitchen it sees.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.minds = tuple(CommandedMind(self._decide) for _ in world.agents)
        self._brings: dict[int, str] = {}

    def _decide(self, view: View) -> Plan:
        seen = self._world.global_observation()
        assert isinstance(seen, KitchenObservation)
        self._brings.pop(view.agent, None)
        plan = Jobs(seen, view.agent, self._brings).plan()
        if isinstance(action := plan.actions[0], Fetch):
            self._brings[view.agent] = action.item
        return plan

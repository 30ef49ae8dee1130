"""How many steps a board takes at least, and between which numbers its optimum lies.

Nobody has published optima for these tasks. Hard boards are solved exactly here; easy ones get a lower bound and the
best of many randomised greedy plans, which nearly always meet. `llamac_env.transport.exact` closes the rest.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random

from llamac_env.transport.assignment import assignments
from llamac_env.transport.board import Board, Item
from llamac_env.transport.constants import Colour
from llamac_env.transport.plan import JointPlan
from llamac_env.transport.queueing import Queues
from llamac_env.transport.routing import OutOfNodes, prioritised, route

NODES = 200_000
"""Nodes of the exact search of a hard board after which only bounds are known: some seconds."""

TRIES = 100
"""Randomised greedy plans of an easy board, for its bounds."""

RESTARTS = 10
"""Randomised plans among which a greedy planner of an easy board chooses, besides the one without noise."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """What is known of the fewest steps of a board.

    Attributes:
        lower: no plan is shorter.
        plan: a plan that places every box.
    """

    lower: int
    plan: JointPlan

    @property
    def upper(self) -> int:
        """Steps of the plan."""
        return len(self.plan)

    @property
    def optimum(self) -> int | None:
        """The fewest steps, where they are known."""
        return self.lower if self.lower == self.upper else None


def lower_bound(board: Board) -> int:
    """A number of steps below which no plan can be: the most that one of these takes.

    - The longest way of a box, where boxes of a colour are given to targets so that it is shortest.
    - The work of an agent, one action a step: a box that only it can reach, and a target in its cell, take one each;
      a box and a target of one colour may share it.
    - The targets of a cell: its agent serves one a step, none before a box of the colour can be there.
    - The boxes that only one agent can reach: it lets one go a step, and then each has the rest of its way to go.
    """
    grid = board.grid
    pairs = (pair for colour in Colour for pair in assignments(board, colour)[0])
    least = max((grid.steps_to(box, target) for box, target in pairs), default=0)
    alone: dict[int, list[Item]] = {}
    for box in board.boxes:
        if len(handlers := grid.handlers[box.place]) == 1:
            alone.setdefault(min(handlers), []).append(box)
    served: dict[int, list[Item]] = {}
    for target in board.targets:
        served.setdefault(grid.agent_of[target.place], []).append(target)
    for agent in range(grid.agents):
        boxes, targets = alone.get(agent, []), served.get(agent, [])
        work = Counter(box.colour for box in boxes) | Counter(target.colour for target in targets)
        rest = sorted((_nearest(board, box, board.targets) for box in boxes), reverse=True)
        arrivals = sorted(_nearest(board, target, board.boxes) for target in targets)
        least = max(
            least,
            work.total(),
            *(gone + way for gone, way in enumerate(rest)),
            *(arrival + len(arrivals) - 1 - number for number, arrival in enumerate(arrivals)),
        )
    return least


def _nearest(board: Board, item: Item, others: tuple[Item, ...]) -> int:
    """The fewest steps between a box and a target of its colour, or a target and a box."""
    return min(board.grid.steps_to(item.place, other.place) for other in others if other.colour == item.colour)


def greedy_plan(board: Board) -> JointPlan:
    """A good plan, found without search: what a greedy planner that commands all agents does.

    Easy: in each step every agent moves the box with the longest way left towards its target, by the neighbour with the
    fewest boxes; the shortest of that plan and 10 that misjudge ways and queues a little. Hard: one box after the
    other, that with the longest way first, is given the quickest way that those before it leave free; the shortest of
    that plan and those with another box in front.

    Raises:
        NoPlan: none was found (hard boards with `start_empty` may have none).
    """
    return prioritised(board) if board.grid.is_hard else _shortest_queues(board, lower_bound(board), RESTARTS)


def bracket(board: Board) -> Bracket:
    """Find the optimum of a board, or bounds of it; the same for equal boards.

    Raises:
        NoPlan: no plan was found.
    """
    least = lower_bound(board)
    if board.grid.is_hard:
        return _search(board, Bracket(least, greedy_plan(board)))
    return Bracket(least, _shortest_queues(board, least, TRIES))


def _shortest_queues(board: Board, least: int, tries: int) -> JointPlan:
    """The shortest of the greedy plan of an easy board and some randomised ones, the same for equal boards."""
    queues, random = Queues(board), Random(0)
    best = queues.plan()
    for _ in range(tries):
        if len(best) == least:
            break
        plan = queues.plan(random)
        best = plan if len(plan) < len(best) else best
    return best


def _search(board: Board, best: Bracket) -> Bracket:
    """Look for plans of more and more steps, until there is one; what is not searched to the end stays open."""
    nodes = NODES
    for steps in range(best.lower, best.upper):
        try:
            plan, nodes = route(board, steps, nodes)
        except OutOfNodes:
            return Bracket(steps, best.plan)
        if plan is not None:
            return Bracket(steps, plan)
    return Bracket(best.upper, best.plan)

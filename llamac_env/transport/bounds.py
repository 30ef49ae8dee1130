"""How many steps a board takes at least, and between which numbers its optimum lies.

Nobody has published optima for these tasks. Hard boards are solved exactly here; easy ones get a lower bound and the
best of many randomised greedy plans, which nearly always meet. `llamac_env.transport.exact` closes the rest.

In the greedy plans of easy boards cells are servers, in which boxes queue.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import permutations
from random import Random
from typing import NamedTuple

from llamac_env.transport.board import Board, BoxMove, Item, JointMove, JointPlan
from llamac_env.transport.grid import PLACES, Colour, Grid, Place
from llamac_env.transport.routing import OutOfNodes, prioritised, route

Pair = tuple[Place, Place]
"""Where a box is, and the target that it goes to."""


def assignments(board: Board, colour: Colour, slack: int = 0) -> list[tuple[Pair, ...]]:
    """The good ways to give the boxes of a colour a target each, best first: least longest way, then least sum of ways.

    All permutations are tried: a board has at most 3 boxes of a colour.

    Args:
        board: the state.
        colour: of the boxes and targets.
        slack: steps that the longest way may be longer than the least possible.
    """
    boxes = [box.place for box in board.boxes if box.colour == colour]
    targets = [target.place for target in board.targets if target.colour == colour]
    found: dict[tuple[Pair, ...], tuple[int, int]] = {}
    for order in permutations(targets):
        pairs = tuple(sorted(zip(boxes, order, strict=True)))
        if pairs not in found:
            ways = [board.grid.steps_to(box, target) for box, target in pairs]
            found[pairs] = max(ways, default=0), sum(ways)
    least = min(found.values())[0]
    good = [(cost, pairs) for pairs, cost in found.items() if cost[0] <= least + slack]
    return [pairs for _, pairs in sorted(good)]


SLACK = 1
"""Steps that a randomised plan lets the longest way of a colour be longer, for the sake of shorter queues."""

NOISE = 1.5
"""Steps by which a randomised plan misjudges ways and queues, at most."""


class _Box(NamedTuple):
    colour: Colour
    place: Place
    target: Place


class Queues:
    """Plans of one easy board.

    Args:
        board: the board.
    """

    def __init__(self, board: Board) -> None:
        self._grid = board.grid
        self._best = [(colour, assignments(board, colour)[:1]) for colour in Colour]
        self._good = [(colour, assignments(board, colour, SLACK)) for colour in Colour]

    def plan(self, random: Random | None = None) -> JointPlan:
        """Plan: in each step each agent moves the box of its cell that has the longest way left, to the shortest queue.

        Args:
            random: for a randomised plan: any good assignment of boxes to targets, ways and queues judged with noise.
        """
        boxes: list[_Box] = []
        for colour, options in self._good if random is not None else self._best:
            chosen = random.choice(options) if random is not None else options[0]
            boxes += [_Box(colour, box, target) for box, target in chosen]
        plan: list[JointMove] = []
        while boxes:
            joint, boxes = _step(self._grid, boxes, random)
            plan.append(joint)
        return tuple(plan)


def _step(grid: Grid, boxes: list[_Box], random: Random | None) -> tuple[JointMove, list[_Box]]:
    """Make one step; gives the moves, and the boxes after it."""

    def noise() -> float:
        return random.random() * NOISE if random is not None else 0.0

    queues = Counter(box.place for box in boxes)
    waiting: dict[Place, list[_Box]] = {}
    for box in boxes:
        waiting.setdefault(box.place, []).append(box)
    joint: dict[int, BoxMove] = {}
    left: list[_Box] = []
    for place, queue in waiting.items():
        agent = grid.agent_of[place]
        first = queue[0]
        if len(queue) > 1:
            first = max(queue, key=lambda box: grid.steps_to(box.place, box.target) + noise())
            queue.remove(first)
            left += queue
        to = place
        if first.target != place:
            way = grid.steps_to(place, first.target)
            ends = [end for end in grid.slots[agent][:PLACES] if end is not None]
            nearer = [end for end in ends if grid.steps_to(end, first.target) < way]
            to = min(nearer, key=lambda end: queues[end] + noise()) if len(nearer) > 1 else nearer[0]
            queues[to] += 1
            left.append(_Box(first.colour, to, first.target))
        joint[agent] = BoxMove(first.colour, to)
    return joint, left


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

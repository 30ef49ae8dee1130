"""Bounds on the optimal number of steps of a board.

There are no published optima for these tasks. Hard boards are solved exactly here; easy ones get a lower bound and the
best of many randomised greedy plans, which nearly always match. `llamac_env.transport.exact` closes the remaining gaps.

The greedy plans of easy boards treat cells as servers in which boxes queue.
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
"""The place of a box, and its assigned target."""


def assignments(board: Board, colour: Colour, slack: int = 0) -> list[tuple[Pair, ...]]:
    """Return the good assignments of targets to the boxes of a colour, best first.

    The best has the least longest path, then the least sum of paths. All permutations are tried, because a board has at
    most 3 boxes of a colour.

    Args:
        board: the state.
        colour: colour of the boxes and targets.
        slack: extra steps allowed for the longest path.
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
"""Extra steps that a randomised plan allows for the longest path of a colour, for shorter queues."""

NOISE = 1.5
"""Maximum noise, in steps, of a randomised plan's estimates of paths and queues."""


class _Box(NamedTuple):
    colour: Colour
    place: Place
    target: Place


class Queues:
    """Plans for one easy board.

    Args:
        board: the board.
    """

    def __init__(self, board: Board) -> None:
        self._grid = board.grid
        self._best = [(colour, assignments(board, colour)[:1]) for colour in Colour]
        self._good = [(colour, assignments(board, colour, SLACK)) for colour in Colour]

    def plan(self, random: Random | None = None) -> JointPlan:
        """Make a plan: in each step each agent moves its box with the longest remaining path, to the shortest queue.

        Args:
            random: for a randomised plan: any good assignment of boxes to targets, and noisy path and queue estimates.
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
    """Make one step; return the moves, and the boxes after it."""

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
"""Node limit of the exact search of a hard board; beyond it only bounds are known. Takes some seconds."""

TRIES = 100
"""Number of randomised greedy plans for the bounds of an easy board."""

RESTARTS = 10
"""Number of randomised plans that a greedy planner of an easy board tries, in addition to the one without noise."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """Bounds on the optimal number of steps of a board.

    Attributes:
        lower: no plan is shorter.
        plan: a plan that places every box.
    """

    lower: int
    plan: JointPlan

    @property
    def upper(self) -> int:
        """Number of steps of the plan."""
        return len(self.plan)

    @property
    def optimum(self) -> int | None:
        """The optimal number of steps, if known."""
        return self.lower if self.lower == self.upper else None


def lower_bound(board: Board) -> int:
    """Return a lower bound on the number of steps of any plan: the maximum of these bounds.

    - The longest path of a box, with the boxes of a colour assigned to targets so that it is shortest.
    - The work of an agent, one action per step: each box that only it can reach and each target in its cell takes one;
      a box and a target of one colour may share it.
    - The targets of a cell: its agent serves one per step, none before a box of the colour can be there.
    - The boxes that only one agent can reach: it releases one per step, and each then has the rest of its path to go.
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
    """Return the fewest steps between a box and a target of its colour, or a target and a box."""
    return min(board.grid.steps_to(item.place, other.place) for other in others if other.colour == item.colour)


def greedy_plan(board: Board) -> JointPlan:
    """Return a good plan, found without search, as a greedy planner that commands all agents would.

    Easy: in each step every agent moves the box with the longest remaining path towards its target, through the
    neighbour with the fewest boxes. The result is the shortest of that plan and 10 plans with noisy path and queue
    estimates. Hard: one box after another, the one with the longest path first, gets the quickest path that the earlier
    ones leave free. The result is the shortest of that plan and those with another box first.

    Raises:
        NoPlan: no plan was found (hard boards with `start_empty` may have none).
    """
    return prioritised(board) if board.grid.is_hard else _shortest_queues(board, lower_bound(board), RESTARTS)


def bracket(board: Board) -> Bracket:
    """Find the optimum of a board, or bounds on it; deterministic for equal boards.

    Raises:
        NoPlan: no plan was found.
    """
    least = lower_bound(board)
    if board.grid.is_hard:
        return _search(board, Bracket(least, greedy_plan(board)))
    return Bracket(least, _shortest_queues(board, least, TRIES))


def _shortest_queues(board: Board, least: int, tries: int) -> JointPlan:
    """Return the shortest of the greedy and some randomised plans of an easy board; deterministic for equal boards."""
    queues, random = Queues(board), Random(0)
    best = queues.plan()
    for _ in range(tries):
        if len(best) == least:
            break
        plan = queues.plan(random)
        best = plan if len(plan) < len(best) else best
    return best


def _search(board: Board, best: Bracket) -> Bracket:
    """Search for plans with an increasing number of steps until one is found; unfinished searches leave a gap."""
    nodes = NODES
    for steps in range(best.lower, best.upper):
        try:
            plan, nodes = route(board, steps, nodes)
        except OutOfNodes:
            return Bracket(steps, best.plan)
        if plan is not None:
            return Bracket(steps, plan)
    return Bracket(best.upper, best.plan)

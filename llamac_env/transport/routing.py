"""Plans for hard boards: paths of boxes through time, which compete for corners and agents.

A path occupies a corner at each instant and an agent in each step in which the box moves. `prioritised` gives one box
after another the quickest path that is left; `route` searches all paths of all boxes, with backtracking, so it finds a
plan with a given number of steps whenever one exists.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

from llamac_env.transport.board import Board, BoxMove, JointPlan
from llamac_env.transport.grid import Colour, EntryRule, Grid, Place
from quorum_base.environments.errors import WorldError

_State = tuple[Place, int]
"""A corner and an instant."""

PATIENCE = 12
"""Steps beyond the longest path that `prioritised` looks ahead."""


class NoPlan(WorldError):
    """No plan was found that places every box."""


class OutOfNodes(Exception):
    """The search has reached its node limit."""


class _Box(NamedTuple):
    colour: Colour
    start: Place
    target: Place
    way: int


class _Leg(NamedTuple):
    """One step of a path: the agent that moves the box (none: it waits), and where to; a target stands for itself."""

    agent: int | None
    to: Place


def prioritised(board: Board) -> JointPlan:
    """Plan one box after another, the longest path first; then retry with each box first, and return the shortest plan.

    Raises:
        NoPlan: every order that was tried leaves a box without a path.
    """
    boxes = _boxes(board)
    if not boxes:
        return ()
    best: JointPlan | None = None
    for number, box in enumerate(boxes):
        plan = _in_order(board.grid, [box, *boxes[:number], *boxes[number + 1 :]])
        if plan is not None and (best is None or len(plan) < len(best)):
            best = plan
        if best is not None and len(best) == boxes[0].way:
            break
    if best is None:
        raise NoPlan("no way was found for every box")
    return best


def _in_order(grid: Grid, boxes: list[_Box]) -> JointPlan | None:
    """Give each box the quickest path that the earlier ones leave free; a box without a path moves to the front.

    Returns:
        None if that happens more often than there are pairs of boxes.
    """
    for _ in range(len(boxes) ** 2):
        taken = _Taken(grid, boxes, max(box.way for box in boxes) + PATIENCE)
        ways: list[tuple[_Leg, ...]] = []
        while len(ways) < len(boxes) and (way := _quickest(taken, len(ways), boxes[len(ways)])) is not None:
            taken.mark(len(ways), boxes[len(ways)].start, way)
            ways.append(way)
        if len(ways) == len(boxes):
            return _join(boxes, ways)
        boxes.insert(0, boxes.pop(len(ways)))
    return None


def route(board: Board, steps: int, nodes: int) -> tuple[JointPlan | None, int]:
    """Search for a plan with a given number of steps.

    Args:
        board: a hard board.
        steps: maximum number of steps of the plan.
        nodes: maximum number of nodes to visit.

    Returns:
        A plan, or None if there is none; and the number of remaining nodes.

    Raises:
        OutOfNodes: no nodes are left.
    """
    boxes = _boxes(board)
    if boxes and boxes[0].way > steps:
        return None, nodes
    search = _Search(board.grid, boxes, steps, nodes)
    ways = search.ways(frozenset(range(len(boxes))))
    plan = _join(boxes, [ways[number] for number in range(len(boxes))]) if ways is not None else None
    return plan, search.nodes


class _Taken:
    """The corners and agents occupied by the paths of boxes, up to a horizon."""

    def __init__(self, grid: Grid, boxes: list[_Box], horizon: int) -> None:
        self.grid = grid
        self.horizon = horizon
        self._strict = grid.entry_rule is EntryRule.start_empty
        self._corners: list[dict[Place, int]] = [{} for _ in range(horizon + 2)]
        self._corners[0] = {box.start: number for number, box in enumerate(boxes)}
        self._agents: list[set[int]] = [set() for _ in range(horizon)]

    def is_free(self, number: int, place: Place, time: int) -> bool:
        """Whether a box can be on a corner at an instant."""
        corners = self._corners
        if corners[time].get(place, number) != number:
            return False
        if self._strict:  # no box may enter in the step in which another leaves
            return corners[time - 1].get(place, number) == number and corners[time + 1].get(place, number) == number
        return True

    def legs(self, number: int, box: _Box, place: Place, step: int) -> list[_Leg]:
        """Return the options of a box on a corner in a step, best first: onto its target, nearer, wait, elsewhere."""
        grid, agents = self.grid, self._agents[step]
        server = grid.agent_of[box.target]
        found = [_Leg(server, box.target)] if server in grid.handlers[place] and server not in agents else []
        moves = [
            (grid.steps_to(to, box.target), _Leg(agent, to))
            for agent, to in grid.links[place]
            if agent not in agents and self.is_free(number, to, step + 1)
        ]
        if self.is_free(number, place, step + 1):
            moves.append((grid.steps_to(place, box.target), _Leg(None, place)))
        moves.sort(key=lambda move: (move[0], move[1].agent is not None))
        return found + [leg for _, leg in moves]

    def mark(self, number: int, start: Place, way: tuple[_Leg, ...]) -> None:
        """Reserve the corners and agents of a path."""
        place = start
        for step, leg in enumerate(way):
            self._corners[step][place] = number
            if leg.agent is not None:
                self._agents[step].add(leg.agent)
            place = leg.to

    def unmark(self, start: Place, way: tuple[_Leg, ...]) -> None:
        """Release the corners and agents of a path; the initial corner of the box stays reserved."""
        place = start
        for step, leg in enumerate(way):
            if step:
                del self._corners[step][place]
            if leg.agent is not None:
                self._agents[step].remove(leg.agent)
            place = leg.to


class _Search:
    """Search of all paths of all boxes within a number of steps; always continues with the box with the fewest paths.

    Args:
        grid: the cells.
        boxes: the boxes to place.
        steps: steps within which all must be placed.
        nodes: maximum number of nodes to visit: corners of boxes at instants.
    """

    def __init__(self, grid: Grid, boxes: list[_Box], steps: int, nodes: int) -> None:
        self.nodes = nodes
        self._grid = grid
        self._boxes = boxes
        self._steps = steps
        self._taken = _Taken(grid, boxes, steps)

    def ways(self, left: frozenset[int]) -> dict[int, tuple[_Leg, ...]] | None:
        """Find paths for the remaining boxes; None if the reserved paths leave no solution."""
        if not left:
            return {}
        counts: dict[int, dict[_State, int]] = {}
        for number in sorted(left):
            counts[number] = {}
            if not self._count(number, (self._boxes[number].start, 0), counts[number]):
                return None
        number = min(counts, key=lambda number: counts[number][self._boxes[number].start, 0])
        start = self._boxes[number].start
        for way in self._ways_of(number, (start, 0), counts[number]):
            self._taken.mark(number, start, way)
            found = self.ways(left - {number})
            self._taken.unmark(start, way)
            if found is not None:
                return {number: way, **found}
        return None

    def _count(self, number: int, state: _State, counts: dict[_State, int]) -> int:
        """Count the paths of a box from a state, given the reserved paths; `counts` caches results."""
        if state not in counts:
            counts[state] = sum(
                1 if after is None else self._count(number, after, counts) for _, after in self._legs(number, state)
            )
        return counts[state]

    def _ways_of(self, number: int, state: _State, counts: dict[_State, int]) -> Iterator[tuple[_Leg, ...]]:
        """Yield the paths of a box from a state, best first."""
        for leg, after in self._legs(number, state):
            if after is None:
                yield (leg,)
            elif counts[after]:
                for rest in self._ways_of(number, after, counts):
                    yield (leg, *rest)

    def _legs(self, number: int, state: _State) -> list[tuple[_Leg, _State | None]]:
        """Return a box's options that allow placing it in time, with the state after each; None when placed."""
        self.nodes -= 1
        if self.nodes < 0:
            raise OutOfNodes
        place, step = state
        box = self._boxes[number]
        found: list[tuple[_Leg, _State | None]] = []
        for leg in self._taken.legs(number, box, place, step):
            if leg.to == box.target:
                found.append((leg, None))
            elif step + 1 + self._grid.steps_to(leg.to, box.target) <= self._steps:
                found.append((leg, (leg.to, step + 1)))
        return found


def _quickest(taken: _Taken, number: int, box: _Box) -> tuple[_Leg, ...] | None:
    """Return the path that places a box soonest, given the reserved paths (A*)."""
    reached: dict[_State, tuple[_State, _Leg] | None] = {(box.start, 0): None}
    order = count()
    queue = [(box.way, 0, next(order), (box.start, 0))]
    while queue:
        *_, state = heappop(queue)
        place, step = state
        for leg in taken.legs(number, box, place, step):
            after = leg.to, step + 1
            if leg.to == box.target:
                return (*_back(reached, state), leg)
            if after not in reached and step + 1 < taken.horizon:
                reached[after] = state, leg
                soonest = step + 1 + taken.grid.steps_to(leg.to, box.target)
                heappush(queue, (soonest, -step, next(order), after))
    return None


def _back(reached: dict[_State, tuple[_State, _Leg] | None], state: _State) -> tuple[_Leg, ...]:
    way = []
    while (before := reached[state]) is not None:
        state, leg = before
        way.append(leg)
    return tuple(reversed(way))


def _boxes(board: Board) -> list[_Box]:
    """Return the boxes with their targets, the longest path first."""
    target_of = dict(board.targets)
    boxes = [
        _Box(colour, start, target_of[colour], board.grid.steps_to(start, target_of[colour]))
        for colour, start in board.boxes
    ]
    return sorted(boxes, key=lambda box: (-box.way, box.colour))


def _join(boxes: list[_Box], ways: list[tuple[_Leg, ...]]) -> JointPlan:
    """Combine the paths of all boxes into joint moves."""
    plan: list[dict[int, BoxMove]] = [{} for _ in range(max(map(len, ways), default=0))]
    for box, way in zip(boxes, ways, strict=True):
        for step, leg in enumerate(way):
            if leg.agent is not None:
                plan[step][leg.agent] = BoxMove(box.colour, leg.to)
    return tuple(plan)

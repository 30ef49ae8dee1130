"""Plans of hard boards: ways of boxes through time, which share corners and agents.

A way occupies a corner at each instant and an agent in each step in which the box moves. `prioritised` gives one box
after the other the quickest way that is left; `route` searches all ways of all boxes, with backtracking, so that it
finds a plan of a number of steps whenever there is one.
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
"""Steps beyond the longest way that `prioritised` looks ahead."""


class NoPlan(WorldError):
    """No plan was found that places every box."""


class OutOfNodes(Exception):
    """The search has looked at as many nodes as it may."""


class _Box(NamedTuple):
    colour: Colour
    start: Place
    target: Place
    way: int


class _Leg(NamedTuple):
    """One step of a way: who moves the box, and where to; the target stands for itself; no agent: the box waits."""

    agent: int | None
    to: Place


def prioritised(board: Board) -> JointPlan:
    """Plan one box after the other, the longest way first; then again with each box in front, and take the shortest.

    Raises:
        NoPlan: every order that was tried leaves a box without a way.
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
    """Give each box the quickest way that those before it leave free; one that has none goes to the front.

    Returns:
        None when that happens more often than there are pairs of boxes.
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
    """Search for a plan of a number of steps.

    Args:
        board: a hard board.
        steps: steps that the plan may take, at most.
        nodes: nodes that the search may look at.

    Returns:
        A plan, or None when there is none; and the nodes that are left.

    Raises:
        OutOfNodes: there are none left.
    """
    boxes = _boxes(board)
    if boxes and boxes[0].way > steps:
        return None, nodes
    search = _Search(board.grid, boxes, steps, nodes)
    ways = search.ways(frozenset(range(len(boxes))))
    plan = _join(boxes, [ways[number] for number in range(len(boxes))]) if ways is not None else None
    return plan, search.nodes


class _Taken:
    """Which corners and agents the ways of boxes have taken, up to a horizon."""

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
        if self._strict:  # nobody may enter in the step in which another leaves
            return corners[time - 1].get(place, number) == number and corners[time + 1].get(place, number) == number
        return True

    def is_idle(self, agent: int, step: int) -> bool:
        """Whether an agent has nothing to do in a step."""
        return agent not in self._agents[step]

    def legs(self, number: int, box: _Box, place: Place, step: int) -> list[_Leg]:
        """What a box on a corner can do in a step, best first: onto its target, nearer, wait, elsewhere."""
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
        """Take what a way needs."""
        place = start
        for step, leg in enumerate(way):
            self._corners[step][place] = number
            if leg.agent is not None:
                self._agents[step].add(leg.agent)
            place = leg.to

    def unmark(self, start: Place, way: tuple[_Leg, ...]) -> None:
        """Give back what a way has taken; where the box stands at first stays taken."""
        place = start
        for step, leg in enumerate(way):
            if step:
                del self._corners[step][place]
            if leg.agent is not None:
                self._agents[step].remove(leg.agent)
            place = leg.to


class _Search:
    """All ways of all boxes within a number of steps, always going on with the box that has the fewest left.

    Args:
        grid: the cells.
        boxes: what is to be placed.
        steps: steps within which all must be placed.
        nodes: nodes that may be looked at: corners of boxes at instants.
    """

    def __init__(self, grid: Grid, boxes: list[_Box], steps: int, nodes: int) -> None:
        self.nodes = nodes
        self._grid = grid
        self._boxes = boxes
        self._steps = steps
        self._taken = _Taken(grid, boxes, steps)

    def ways(self, left: frozenset[int]) -> dict[int, tuple[_Leg, ...]] | None:
        """Find ways for the boxes that are left; None when none is left next to the ways taken."""
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
        """Count the ways of a box from a state on, given the ways taken; `counts` keeps what is known."""
        if state not in counts:
            counts[state] = sum(
                1 if after is None else self._count(number, after, counts) for _, after in self._legs(number, state)
            )
        return counts[state]

    def _ways_of(self, number: int, state: _State, counts: dict[_State, int]) -> Iterator[tuple[_Leg, ...]]:
        """Return the ways of a box from a state on, best first."""
        for leg, after in self._legs(number, state):
            if after is None:
                yield (leg,)
            elif counts[after]:
                for rest in self._ways_of(number, after, counts):
                    yield (leg, *rest)

    def _legs(self, number: int, state: _State) -> list[tuple[_Leg, _State | None]]:
        """What a box can do in a state so that it is placed in time, and the state after it; None when placed."""
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
    """The way of a box that places it soonest, given the ways taken (A*)."""
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
    """The boxes with their targets, the longest way first."""
    target_of = dict(board.targets)
    boxes = [
        _Box(colour, start, target_of[colour], board.grid.steps_to(start, target_of[colour]))
        for colour, start in board.boxes
    ]
    return sorted(boxes, key=lambda box: (-box.way, box.colour))


def _join(boxes: list[_Box], ways: list[tuple[_Leg, ...]]) -> JointPlan:
    """Make joint moves of the ways of all boxes."""
    plan: list[dict[int, BoxMove]] = [{} for _ in range(max(map(len, ways), default=0))]
    for box, way in zip(boxes, ways, strict=True):
        for step, leg in enumerate(way):
            if leg.agent is not None:
                plan[step][leg.agent] = BoxMove(box.colour, leg.to)
    return tuple(plan)

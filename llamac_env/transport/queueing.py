"""Greedy plans of easy boards: cells are servers, boxes queue in them."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import NamedTuple

from llamac_env.transport.assignment import assignments
from llamac_env.transport.board import Board, BoxMove
from llamac_env.transport.constants import Colour
from llamac_env.transport.grid import PLACES, Grid, Place
from llamac_env.transport.plan import JointMove, JointPlan

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

"""Greedy plans of easy boards: cells are servers, boxes queue in them."""

from __future__ import annotations

from collections import Counter
from random import Random

from llamac_env.transport.assignment import assignments
from llamac_env.transport.board import Board, BoxMove
from llamac_env.transport.constants import Colour
from llamac_env.transport.grid import PLACES, Place
from llamac_env.transport.plan import JointMove, JointPlan


def queue_up(board: Board, random: Random | None = None) -> JointPlan:
    """Plan: in each step each agent moves the box of its cell that has the longest way left, to the shortest queue.

    Args:
        board: an easy board.
        random: breaks ties between assignments, boxes and queues; None: the first counts.
    """
    boxes: list[tuple[Colour, Place, Place]] = []
    for colour in Colour:
        options = assignments(board, colour)
        chosen = random.choice(options) if random is not None else options[0]
        boxes += [(colour, box, target) for box, target in chosen]
    plan: list[JointMove] = []
    while boxes:
        joint, boxes = _step(board, boxes, random)
        plan.append(joint)
    return tuple(plan)


def _step(
    board: Board, boxes: list[tuple[Colour, Place, Place]], random: Random | None
) -> tuple[JointMove, list[tuple[Colour, Place, Place]]]:
    grid = board.grid
    queues = Counter(place for _, place, _ in boxes)
    waiting: dict[Place, list[tuple[Colour, Place, Place]]] = {}
    for box in boxes:
        waiting.setdefault(box[1], []).append(box)
    joint: dict[int, BoxMove] = {}
    left: list[tuple[Colour, Place, Place]] = []
    for place, queue in waiting.items():
        agent = grid.agent_of[place]
        if random is not None:
            random.shuffle(queue)
        first = max(queue, key=lambda box: grid.steps_to(box[1], box[2]))
        queue.remove(first)
        left += queue
        colour, _, target = first
        to = place
        if target != place:
            way = grid.steps_to(place, target)
            nearer = [end for end in grid.slots[agent][:PLACES] if end is not None and grid.steps_to(end, target) < way]
            if random is not None:
                random.shuffle(nearer)
            to = min(nearer, key=lambda end: queues[end])
            queues[to] += 1
            left.append((colour, to, target))
        joint[agent] = BoxMove(colour, to)
    return joint, left

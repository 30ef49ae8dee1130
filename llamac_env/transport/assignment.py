"""Which box goes onto which target, where there are several of a colour."""

from __future__ import annotations

from itertools import permutations

from llamac_env.transport.board import Board
from llamac_env.transport.constants import Colour
from llamac_env.transport.grid import Place

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

"""The tasks of grid transportation as feedback tells them: which agents hold each colour's box, and what is in its way.

Told are the boxes of every colour that is left, those of somebody's plan first, then those that have the fewest steps
to go. `in_place` are the agents with such a box in reach, `able` those that can bring one nearer to a target now. Where
nobody can because other boxes stand on every corner that is nearer, these stand before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from llamac_env.transport.board import Board, Item
from llamac_env.transport.constants import Colour
from llamac_env.transport.grid import Place
from llamac_env.transport.symbolic.actions import Move
from llamac_env.transport.symbolic.tasks import task_of
from maeil.plans import Plan
from maeil.tasks import OpenTask
from maeil.world import NEAREST


def open_tasks(board: Board, plans: Sequence[Plan | None]) -> list[OpenTask]:
    """Return the colours that are left.

    Args:
        board: the state as it is.
        plans: the live plan of each agent.
    """
    planned: dict[Colour, list[int]] = {box.colour: [] for box in board.boxes}
    for agent, plan in enumerate(plans):
        first = (
            next((action for action in plan.actions if isinstance(action, Move)), None) if plan is not None else None
        )
        colour = Colour(first.box.removeprefix("box_")) if first is not None else None
        if colour in planned:
            planned[colour].append(agent)
    ways = {colour: min(way for way, _ in _boxes(board, colour)) for colour in planned}
    named = sorted(colour for colour in planned if planned[colour])
    others = sorted((colour for colour in planned if not planned[colour]), key=lambda colour: (ways[colour], colour))
    return [_open_task(board, colour, tuple(planned[colour])) for colour in (*named, *others[:NEAREST])]


def _boxes(board: Board, colour: Colour) -> list[tuple[int, Place]]:
    """The boxes of a colour, each with the fewest steps onto a target."""
    return [(_steps(board, colour, box.place), box.place) for box in board.boxes if box.colour == colour]


def _steps(board: Board, colour: Colour, place: Place) -> int:
    return min(board.grid.steps_to(place, target.place) for target in board.targets if target.colour == colour)


def _open_task(board: Board, colour: Colour, planned: tuple[int, ...]) -> OpenTask:
    boxes = _boxes(board, colour)
    near = {agent for _, place in boxes for agent in board.grid.handlers[place]}
    taken = {box.place: box.colour for box in board.boxes} if board.grid.is_hard else {}
    able: set[int] = set()
    hindering: set[Colour] = set()
    for steps, place in boxes:
        for agent in board.grid.handlers[place]:
            for end in _nearer(board, colour, agent, place, steps):
                if end in taken:
                    hindering.add(taken[end])
                else:
                    able.add(agent)
    before = tuple(f"box_{other}" for other in sorted(hindering)) if not able else ()
    here, can = tuple(sorted(near)), tuple(sorted(able))
    return OpenTask(task_of(colour), 1, int(not able), here, can, planned, before=before)


def _nearer(board: Board, colour: Colour, agent: int, place: Place, steps: int) -> list[Place]:
    """Where an agent can bring a box so that fewer steps are left, its own cell for a target there."""
    grid = board.grid
    if Item(colour, grid.cells[agent]) in board.targets:
        return [grid.cells[agent]]
    ends = (end for end in grid.slots[agent] if end is not None and end not in (place, grid.cells[agent]))
    return [end for end in ends if _steps(board, colour, end) < steps]

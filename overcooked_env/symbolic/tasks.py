"""The tasks of Overcooked as the loop follows them: the `soup` of each pot.

One agent is enough to take a soup, and everything before that can be shared in any way. So a threshold is 1, and who
works together on a soup shows in participation:

- spatial: agents next to the pot;
- temporal and joint: agents that take the soup, with a dish in the hand;
- participation: those, and agents whose live plan is for the soup or works at the pot;
- dependency: the soup is ready.
"""

from __future__ import annotations

from collections.abc import Sequence

from maeil.plans import Plan
from maeil.tasks import OpenTask, TaskState
from maeil.world import NEAREST
from overcooked_env.observation import (
    Cell,
    KitchenObservation,
    best_order,
    distance,
    missing,
    named_pots,
    pot_cell,
)
from overcooked_env.symbolic.control import INTERACT, AtPot, task_of


def takers(seen: KitchenObservation, joint: Sequence[int], pot: Cell) -> tuple[int, ...]:
    """Return the agents that would take the soup of a pot by a joint action, ascending."""
    facing, held = seen.facing, seen.held
    return tuple(k for k in held if joint[k] == INTERACT and facing[k] == pot and held[k] == "dish")


def planned(plans: Sequence[Plan | None]) -> list[Cell | None]:
    """Return the pot that each plan is for, or where it works first."""
    return [_pot_of(plan) if plan is not None else None for plan in plans]


def _pot_of(plan: Plan) -> Cell | None:
    if plan.task is not None:
        return pot_cell(plan.task.target)
    return next(((action.row, action.col) for action in plan.actions if isinstance(action, AtPot)), None)


def states(seen: KitchenObservation, joint: Sequence[int], plans: Sequence[Plan | None]) -> list[TaskState]:
    """Return the state of each pot's soup, under a joint action."""
    aims, found = planned(plans), []
    for pot, (_, left) in seen.contents.items():
        acting = set(takers(seen, joint, pot))
        near = sum(distance(cell, pot) == 1 for cell in seen.cells.values())
        involved = acting | {agent for agent, aim in enumerate(aims) if aim == pot}
        done = len(acting)
        found.append(TaskState(task_of(pot), 1, near, done, len(involved), done, dependency=left == 0))
    return found


def open_tasks(seen: KitchenObservation, plans: Sequence[Plan | None], text: str) -> list[OpenTask]:
    """Return the soups of plans and of a text, then those of the other pots."""
    aims, has_dish = planned(plans), "dish" in seen.held.values()
    named = {*aims, *named_pots(text)}
    pots = sorted(seen.contents, key=lambda pot: (pot not in named, pot))
    found = []
    for pot in pots[: NEAREST + len(named & set(pots))]:
        ingredients, left = seen.contents[pot]
        lacks = missing(best_order(seen.orders, ingredients), ingredients) if left is None else {}
        lacking = (*sorted(lacks.items()), *([] if has_dish else [("dish", 1)]))
        here = tuple(agent for agent, cell in seen.cells.items() if distance(cell, pot) == 1)
        serving = tuple(agent for agent, aim in enumerate(aims) if aim == pot)
        before = () if left == 0 else (f"{left} steps on the fire",) if left else ("cook",)
        more = int(not here)
        found.append(OpenTask(task_of(pot), 1, more, here, planned=serving, missing=lacking, before=before))
    return found

"""The tasks of Overcooked, as the main loop tracks them: the `soup` of each pot.

One agent is enough to take a soup, and agents can share all earlier work in any way. So the threshold is 1, and
participation shows which agents work together on a soup:

- spatial: agents next to the pot;
- temporal and joint: agents that take the soup, with a dish in hand;
- participation: those, plus agents whose live plan is for the soup or works at the pot;
- dependency: the soup is ready.
"""

from __future__ import annotations

from collections.abc import Sequence

from maeil.plans import Plan, Task
from maeil.tasks import OpenTask, TaskState
from overcooked_env.observation import KitchenObservation, missing
from overcooked_env.symbolic.control import INTERACT, AtPot, task_of
from quorum_base.environments.grid import Cell, distance


def takers(seen: KitchenObservation, joint: Sequence[int], pot: Cell) -> tuple[int, ...]:
    """Return the agents that would take the soup of a pot in a joint action, ascending."""
    facing, held = seen.facing, seen.held
    return tuple(k for k in held if joint[k] == INTERACT and facing[k] == pot and held[k] == "dish")


def states(seen: KitchenObservation, joint: Sequence[int], plans: Sequence[Plan | None]) -> list[TaskState]:
    """Return the state of each pot's soup under a joint action."""
    found = []
    for pot, (_, left) in seen.contents.items():
        acting, near = takers(seen, joint, pot), len(_next_to(seen, pot))
        involved, done = {*acting, *_planned(plans, pot)}, len(acting)
        found.append(TaskState(task_of(pot), 1, near, done, len(involved), done, dependency=left == 0))
    return found


def open_tasks(seen: KitchenObservation, plans: Sequence[Plan | None]) -> list[OpenTask]:
    """Return the soups of all pots, because a kitchen has few."""
    found = []
    for pot, (ingredients, left) in seen.contents.items():
        lacks = sorted(missing(seen.orders, ingredients).items()) if left is None else []
        dish = [] if "dish" in seen.held.values() else [("dish", 1)]
        before = () if left == 0 else (f"{left} steps on the fire",) if left else ("cook",)
        here, planned = _next_to(seen, pot), _planned(plans, pot)
        found.append(
            OpenTask(task_of(pot), 1, int(not here), here, planned=planned, missing=(*lacks, *dish), before=before)
        )
    return found


def _next_to(seen: KitchenObservation, pot: Cell) -> tuple[int, ...]:
    return tuple(agent for agent, cell in seen.cells.items() if distance(cell, pot) == 1)


def _planned(plans: Sequence[Plan | None], pot: Cell) -> tuple[int, ...]:
    """Return the agents whose plan is for the soup of a pot or, without a task, first works at the pot."""
    return tuple(agent for agent, plan in enumerate(plans) if plan is not None and _task_of(plan) == task_of(pot))


def _task_of(plan: Plan) -> Task | None:
    works = (task_of((action.row, action.col)) for action in plan.actions if isinstance(action, AtPot))
    return plan.task or next(works, None)

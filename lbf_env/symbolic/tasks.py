"""The tasks of level-based foraging, as the main loop tracks them: to `load` each food.

A food is an active task until it is loaded. Agents count by their levels (`TaskState.weights`):

- threshold: the level of the food;
- spatial: agents next to it;
- temporal and joint: agents next to it that load;
- participation: those, plus agents whose live plan loads it first;
- dependency: always holds.
"""

from __future__ import annotations

from collections.abc import Sequence

from lbf_env.observation import Cell, ForagingObservation, distance, food_cell, named_foods
from lbf_env.symbolic.control import LOAD, Load, task_of
from maeil.plans import Plan
from maeil.tasks import OpenTask, TaskState, fewest
from maeil.world import NEAREST


def loaders(field: ForagingObservation, joint: Sequence[int], food: Cell) -> tuple[int, ...]:
    """Return the agents that load a food in a joint action, ascending.

    No cell is adjacent to two foods: the package never generates such fields.
    """
    return tuple(agent for agent in field.standing_next_to(food) if joint[agent] == LOAD)


def planned(plans: Sequence[Plan | None]) -> list[Cell | None]:
    """Return the food that each plan loads first; for a plan without actions, the food of its task."""
    return [_food_of(plan) if plan is not None else None for plan in plans]


def _food_of(plan: Plan) -> Cell | None:
    if not plan.actions and plan.task is not None:
        return food_cell(plan.task.target)
    return next(((action.row, action.col) for action in plan.actions if isinstance(action, Load)), None)


def states(field: ForagingObservation, joint: Sequence[int], plans: Sequence[Plan | None]) -> list[TaskState]:
    """Return the state of each remaining food under a joint action."""
    weights = tuple(float(level) for level in field.levels.values())
    aims = planned(plans)
    found = []
    for food, level in field.food_levels.items():
        acting = set(loaders(field, joint, food))
        involved = acting | {agent for agent, aim in enumerate(aims) if aim == food}
        near, work, part = (
            sum(weights[agent] for agent in group) for group in (field.standing_next_to(food), acting, involved)
        )
        found.append(TaskState(task_of(food), level, near, work, part, work, dependency=True, weights=weights))
    return found


def open_tasks(field: ForagingObservation, plans: Sequence[Plan | None], text: str) -> list[OpenTask]:
    """Return the foods named in plans and in a text, then the others that are nearest to any agent."""
    aims = planned(plans)
    named = {*aims, *named_foods(text)}
    levels = field.levels
    foods = sorted(field.food_levels, key=lambda food: min(distance(cell, food) for cell in field.cells.values()))
    others = [food for food in foods if food not in named][:NEAREST]
    found = []
    for food in (*(food for food in foods if food in named), *others):
        level, here = field.food_levels[food], field.standing_next_to(food)
        rest = [own for agent, own in levels.items() if agent not in here]
        more = fewest(max(0, level - sum(levels[agent] for agent in here)), rest)
        serving = tuple(agent for agent, aim in enumerate(aims) if aim == food)
        needs = fewest(level, list(levels.values()))
        found.append(OpenTask(task_of(food), needs, more, here, planned=serving))
    return found

"""True statements in level-based foraging: the foods that an agent sees, and the one it loads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from lbf_env import ForagingObservation, food_name
from maeil.messages import Message, MessageKind
from maeil.plans import Plan, Task
from maeil.world import World
from quorum.other_worlds.foraging.teams import groups


def statements(world: World) -> Callable[..., Sequence[tuple[str, Task | None]]]:
    """Return the function that replaces messages with true statements (`extension=truth`)."""
    return partial(state, world)


def state(world: World, messages: Sequence[Message], plans: Sequence[Plan | None]) -> list[tuple[str, Task | None]]:
    """State what an agent sees and its food: that of its plan, or the one the greedy rule assigns.

    Directives and messages of a coordinator without a body are replaced by all foods.

    See `docs/controls.md` for the arguments.
    """
    found: list[tuple[str, Task | None]] = []
    field = world.global_observation()
    assert isinstance(field, ForagingObservation)
    aims = groups(field, field.cells, field.food_levels)
    for message in messages:
        sender = message.sender
        if message.kind is MessageKind.DIRECTIVE or sender >= len(plans):
            found.append((report(field), None))
            continue
        plan, aim, seen = plans[sender], aims.get(sender), world.observe(sender)
        task = plan.task if plan is not None else Task("load", food_name(aim)) if aim is not None else None
        assert isinstance(seen, ForagingObservation)
        work = f"I work on {task.target}." if task is not None else "I look for food."
        found.append((f"{work} {report(seen)}", task))
    return found


def report(seen: ForagingObservation) -> str:
    """Write the foods in sight; the simulated speaker parses it."""
    foods = (f"{food_name(food)} has level {level}." for food, level in seen.food_levels.items())
    return " ".join(foods) or "I see no food."

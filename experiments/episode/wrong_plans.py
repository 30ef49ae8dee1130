"""Plans that a world takes and that are not what was meant: drawn from what its vocabulary lets plans name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from maeil import Plan, World
from maeil.errors import InvalidThought
from maeil.world import TellsIds
from quorum.agents.simulated.minimal_instance import random_instance

_DRAWS = 40
"""Plans that are drawn, at most, until the world takes one."""
_LONGEST = 3
"""Actions of a plan that is drawn whole, at most."""


def wrong_plan(world: World, agent: int, right: Plan, delay: int, rng: np.random.Generator) -> Plan:
    """Return another plan than the right one that the world takes in its present state.

    It is mostly the same plan for something else: what one of its actions names is another thing, here and wherever
    the plan names it. Where the world takes no such plan, its actions are drawn from the whole vocabulary; and where it
    takes none of those either, the agent waits. The reason that the plan gives names what the plan names.

    Args:
        world: in the state in which the plan is to be committed.
        agent: index of whoever commits it.
        right: what it would have committed.
        delay: steps of the wait.
        rng: for the draws.
    """
    for draw in (_other_names, _any_actions):
        for _ in range(_DRAWS):
            plan = draw(world, agent, right, rng)
            if plan is not None and plan.actions != right.actions and not world.check_plan(agent, plan):
                return plan
    return replace(right, actions=(world.idle,) * delay)


def _other_names(world: World, agent: int, right: Plan, rng: np.random.Generator) -> Plan | None:
    """Put another value in the place of one that the plan names."""
    if not isinstance(world, TellsIds):
        return None
    ids = world.ids(agent)
    actions = [action.model_dump(mode="json") for action in right.actions]
    named = [(key, action[key], tuple(values)) for action in actions for key, values in _values(ids, action["action"])]
    chances = [(key, old, new) for key, old, values in named for new in values if new not in (old, None)]
    if not chances:
        return None
    key, old, new = chances[int(rng.integers(len(chances)))]
    changed = [{**action, key: new} if action.get(key) == old else action for action in actions]
    try:
        parsed = tuple(world.vocabulary.parse(action) for action in changed)
    except InvalidThought:
        return None
    task = replace(right.task, target=_renamed(right.task.target, old, new)) if right.task is not None else None
    return Plan(parsed, task, _renamed(right.rationale, old, new))


def _any_actions(world: World, agent: int, right: Plan, rng: np.random.Generator) -> Plan | None:
    """Draw actions, and what they name of what may be named."""
    ids = world.ids(agent) if isinstance(world, TellsIds) else {}
    kinds = list(world.vocabulary)
    actions = []
    for _ in range(1 + int(rng.integers(_LONGEST))):
        schema = kinds[int(rng.integers(len(kinds)))].model_json_schema()
        name = schema["properties"]["action"]["const"]
        values: dict[str, Any] = {**random_instance(_whole(schema), schema.get("$defs", {}), rng), "action": name}
        values |= {key: found[int(rng.integers(len(found)))] for key, found in _values(ids, name)}
        actions.append(values)
    try:
        return Plan(tuple(world.vocabulary.parse(action) for action in actions), right.task, right.rationale)
    except InvalidThought:
        return None


def _whole(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Have an action's arguments drawn that need not be given, but for those that may be null."""
    wanted = [name for name, part in schema["properties"].items() if part.get("default", 0) is not None]
    return {**schema, "required": wanted}


def _values(ids: Mapping[str, Any], action: str) -> Iterator[tuple[str, list[Any]]]:
    """Return the arguments of an action that are bound, each with all its values of all forms."""
    found: dict[str, list[Any]] = {}
    for form in ids.get(action, ()):
        for key, values in form.items():
            found.setdefault(key, []).extend(value for value in values if value not in found.get(key, ()))
    return ((key, values) for key, values in found.items() if values)


def _renamed(text: str, old: object, new: object) -> str:
    """Write another name wherever a text has one: `block_3`, `block 3`."""
    return re.sub(rf"(?<![A-Za-z0-9]){re.escape(str(old))}(?![A-Za-z0-9])", lambda _: str(new), text)

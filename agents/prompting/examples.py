"""The example that a prompt shows of an answer: typed, so that it is always of the form that it stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from maeil.plans import Plan, Task
from maeil.world import World


@dataclass(frozen=True, slots=True)
class Example:
    """What an agent of a world might answer. It need not fit the board: it shows the form, and what is worth saying.

    Attributes:
        thoughts: what it thinks first.
        message: what it says to the others.
        plan: what it does.
    """

    thoughts: str
    message: str
    plan: Plan


def plain_example(world: World) -> Example:
    """Return the example of a world without one: to wait for a step."""
    return Example(
        "Nothing that I see can be done by me alone, and the others are under way.",
        "I wait for a step; tell me where I can help.",
        Plan((world.idle,), None, "nothing to do before the others arrive"),
    )


def example_plan(world: World, task: Task, rationale: str, *actions: Mapping[str, Any]) -> Plan:
    """Make the plan of an example, whose actions are checked by the world's vocabulary.

    Raises:
        maeil.errors.InvalidThought: an action is none of the vocabulary, or has not its arguments.
    """
    return Plan(tuple(world.vocabulary.parse(action) for action in actions), task, rationale)

"""What prompts of CUBE show as an example of an answer."""

from __future__ import annotations

from typing import Any

from maeil.plans import Task
from maeil.world import World
from quorum.agents.prompting.examples import Example, example_plan, plain_example


def cube_example(world: World) -> Example:
    """Return the example: a block of weight 2 that takes two agents, in the vocabulary of the world."""
    plans = (_meeting, _navigating)
    plan = next((plan for plan in plans if {each["action"] for each in plan} <= set(world.vocabulary.names)), None)
    if plan is None:
        return plain_example(world)
    return Example(
        "Block 7 is free and nearest to the goal; it takes two of us.",
        "I take block_7 from the left; one more is needed there.",
        example_plan(world, Task("deliver", "block_7"), "nearest to the goal", *plan),
    )


_meeting: tuple[dict[str, Any], ...] = (
    {"action": "move_to_block", "block": 7, "face": "left", "timeout": None},
    {"action": "rendezvous", "block": 7, "face": "left", "count": 2, "timeout": 20},
    {"action": "push_block", "block": 7, "steps": 5, "timeout": None},
)
_navigating: tuple[dict[str, Any], ...] = (
    {"action": "navigate", "entity": "block", "id": 7, "cell": None, "timeout": None},
    {"action": "push", "block": 7, "steps": 12},
)

"""What prompts of the open world show as an example of an answer."""

from __future__ import annotations

from maeil.plans import Task
from maeil.world import World
from quorum.agents.prompting.examples import Example, example_plan


def crafter_example(world: World) -> Example:
    """Return the example: iron that takes two agents."""
    return Example(
        "Iron takes two of us with a stone_pickaxe; both of us have one.",
        "I am at [20, 31] with a stone_pickaxe, and go to iron_2081; come and collect it with me.",
        example_plan(
            world,
            Task("collect", "iron_2081"),
            "the nearest iron",
            {"action": "navigate", "target": "iron", "id": 2081},
            {"action": "collect", "resource": "iron", "target": 2081, "steps": 9},
        ),
    )

"""What prompts of the squeeze show as an example of an answer."""

from __future__ import annotations

from maeil.plans import Task
from maeil.world import World
from quorum.agents.prompting.examples import Example, example_plan


def squeeze_example(world: World) -> Example:
    """Return the example, which says nothing about where the peak is."""
    return Example(
        "I compare what the last rounds have paid.",
        "I pick 4 in this round.",
        example_plan(world, Task("allocate", "system"), "to see what it pays", {"action": "pick", "units": 4}),
    )

"""What prompts of the squeeze show as an example of an answer."""

from __future__ import annotations

from maeil.plans import Task
from maeil.world import World
from quorum.agents.prompting.examples import Example, example_plan


def squeeze_example(world: World) -> Example:
    """Return the example: a pick that is as far from every peak as can be, since the sum 0 pays nothing anywhere."""
    return Example(
        "I compare what the last rounds have paid.",
        "I pick 0 in this round.",
        example_plan(world, Task("allocate", "system"), "to see what it pays", {"action": "pick", "units": 0}),
    )

"""What prompts of grid transportation show as an example of an answer."""

from __future__ import annotations

from maeil.plans import Task
from maeil.world import World
from quorum.agents.prompting.examples import Example, example_plan


def transport_example(world: World) -> Example:
    """Return the example: a box that goes one cell nearer to its target."""
    return Example(
        "The agent on my right has the green target.",
        "I bring box_green to square[0.5, 1.5]: place it then. In square[0.5, 0.5] is target_red.",
        example_plan(
            world,
            Task("place", "box_green"),
            "one cell nearer to its target",
            {"action": "move", "box": "box_green", "to": "square[0.5, 1.5]"},
        ),
    )

"""The simplest baseline, without a language model: agents that only ever go right.

The CUBE page shows its boards under this policy ("always move right"), at n = 2 to 256. Who meets a block pushes it; it
moves where as many as its weight happen to stand in line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from maeil.actions import SymbolicAction
from maeil.component import Compatibility, Component, ComponentConfig, Handover, TeamContext
from maeil.errors import InvalidThought
from maeil.mind import Mind, Thought, View
from maeil.plans import Plan

STEPS = 10
"""Steps of a plan; then comes the same again."""


class AlwaysRightConfig(ComponentConfig):
    """`always_right` has no parameters."""

    name: Literal["always_right"]


class AlwaysRight:
    """The mind of one agent: it goes right, whatever it sees.

    Args:
        move: the action that goes right.
    """

    def __init__(self, move: SymbolicAction) -> None:
        self._plan = Plan((move,), None, "right is where the goal is")

    async def think(self, view: View) -> Thought:  # noqa: ARG002 - it looks at nothing
        """Go right."""
        return Thought(self._plan)


def build(config: AlwaysRightConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team, one for each agent.

    Raises:
        ValueError: nobody can go right in this world, or the topology wants a coordinator.
    """
    if context.coordinates:
        raise ValueError(
            f"agents={config.name} does not talk, so it has no coordinator: choose topology=individual, or somebody "
            "who talks in its place: agents.leader=negotiator"
        )
    try:
        move = context.world.vocabulary.parse({"action": "move", "direction": "right", "steps": STEPS})
    except InvalidThought as problem:
        raise ValueError(
            f"agents={config.name} needs an action 'move' with the direction 'right', which the world "
            f"'{context.world.name}' does not have: {'; '.join(problem.reasons)}"
        ) from None
    return [AlwaysRight(move) for _ in context.world.agents]


component = Component(AlwaysRightConfig, build, talks=False, compatible=Compatibility.ANYBODY, handover=Handover.SHADOW)

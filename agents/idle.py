"""Agents that do nothing: what a team is without one of them, while the others think on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from maeil.actions import SymbolicAction
from maeil.component import Compatibility, Component, ComponentConfig, Handover, TeamContext
from maeil.mind import Mind, Thought, View
from maeil.plans import Plan

TICKS = 10
"""Ticks of a plan; then comes the same again."""


class IdleConfig(ComponentConfig):
    """`idle` has no parameters."""

    name: Literal["idle"]


class Idle:
    """The mind of one agent: it does nothing, says nothing, and serves no task.

    Args:
        action: one tick of doing nothing, `World.idle`.
    """

    def __init__(self, action: SymbolicAction) -> None:
        self._plan = Plan((action,) * TICKS, None, "nothing is done")

    async def think(self, view: View) -> Thought:  # noqa: ARG002 - it looks at nothing
        """Do nothing."""
        return Thought(self._plan)


def build(config: IdleConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team, one for each agent.

    Raises:
        ValueError: the topology wants a coordinator.
    """
    if context.coordinates:
        raise ValueError(
            f"agents={config.name} does not talk, so it has no coordinator: choose topology=individual, or somebody "
            "who talks in its place: agents.leader=negotiator"
        )
    return [Idle(context.world.idle) for _ in context.world.agents]


component = Component(IdleConfig, build, talks=False, compatible=Compatibility.ANYBODY, handover=Handover.FRESH)

"""A mind that follows its world's heuristic and reports to the others. Skills make it independent of the world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from maeil import Component, ComponentConfig, Mind, Plan, TeamContext, Thought, View
from quorum.agents.skills import skills_of, take_turn
from quorum.configuration.registry import minds


class AnnouncerConfig(ComponentConfig):
    """The values of `configs/agents/announcer.yaml`; only that file has defaults."""

    name: Literal["announcer"]
    nothing: str
    """Its message when it has no task."""


class Announcer:
    """Announces its plan in every turn in which it may speak.

    Args:
        rule: a mind that plans and does not talk.
        nothing: its message without a task.
    """

    def __init__(self, rule: Mind, nothing: str) -> None:
        self._rule = rule
        self._nothing = nothing

    async def think(self, view: View) -> Thought:
        """Ask the rule for a plan, then speak and plan as far as the turn allows."""
        plan = (await self._rule.think(view)).decision
        return take_turn(view, plan if isinstance(plan, Plan) else Plan(()), self._nothing)


def build(config: AnnouncerConfig, context: TeamContext) -> Sequence[Mind]:
    """Build the minds of a team, one for each agent.

    Raises:
        ValueError: the topology requires a coordinator, or the world has no rule.
    """
    if context.topology.coordinated:
        raise ValueError("agents=announcer has no coordinator: choose another topology")
    return [Announcer(rule, config.nothing) for rule in skills_of(context.world.name).heuristic(context.world)]


minds.register("announcer", Component(AnnouncerConfig, build))

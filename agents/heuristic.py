"""The greedy baseline without a language model: what a world's heuristic decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import ValidationInfo, model_validator

from maeil.component import Compatibility, Component, ComponentConfig, Handover, TeamContext, needs_keys
from maeil.contracts import check_items
from maeil.mind import Mind
from quorum.agents.skills import role_of


class HeuristicConfig(ComponentConfig):
    """Which of a world's greedy rules `heuristic` follows."""

    name: Literal["heuristic"]
    teams: Literal["several", "one"] = "several"
    """`several`: the world's rule forms as many teams as there is work for; `one`: all agents do one thing at a time.
    Only recorded values of versions before 0.11, which knew the former alone, may leave it out."""

    @model_validator(mode="after")
    def _has_all_keys(self, info: ValidationInfo) -> Self:
        needs_keys(self, info, "teams")
        return self


def build(config: HeuristicConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team, one for each agent; they draw nothing at random.

    Raises:
        ValueError: there is no such rule for this world, or the topology wants a coordinator.
    """
    if context.coordinates:
        raise ValueError(
            "agents=heuristic does not talk, so it has no coordinator: choose topology=individual, or somebody who "
            "talks in its place: agents.leader=negotiator"
        )
    role, chosen = ("one_team", " agents.teams=one") if config.teams == "one" else ("heuristic", "")
    rule = role_of(context.world.name, role, f"agents={config.name}{chosen}")
    return check_items(rule(context.world), Mind, rule, "a list of minds")  # type: ignore[type-abstract] # isinstance takes it


component = Component(HeuristicConfig, build, talks=False, compatible=Compatibility.ANYBODY, handover=Handover.SHADOW)

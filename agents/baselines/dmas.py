"""DMAS: the agents talk until one of them states the joint plan; there is no coordinator (arXiv 2309.15943)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from maeil.component import Component, TeamContext
from maeil.mind import Mind
from quorum.agents.baselines.factory import TeamFactory
from quorum.agents.baselines.hmas1 import talkers
from quorum.agents.baselines.settings import PlanningConfig
from quorum.agents.coordination.topology_checks import needs_dialogue


class DmasConfig(PlanningConfig):
    """Parameters of `dmas`."""

    name: Literal["dmas"]


def build(config: DmasConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team.

    Raises:
        ValueError: the topology is no dialogue that the team opens, or a template is not there.
    """
    turns = needs_dialogue("dmas", context.topology, opens="team")
    return talkers(TeamFactory(config, context), config.pause, turns)


component = Component(DmasConfig, build, uses_models=True)

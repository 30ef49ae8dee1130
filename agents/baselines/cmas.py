"""CMAS: a coordinator makes the joint plan, and the agents carry it out (arXiv 2309.15943)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from maeil.component import Component, TeamContext
from maeil.mind import Mind
from quorum.agents.baselines.coordinator import OnePlanner
from quorum.agents.baselines.factory import TeamFactory
from quorum.agents.baselines.settings import PlanningConfig
from quorum.agents.coordination.follower import Follower
from quorum.agents.coordination.topology_checks import needs_leader


class CmasConfig(PlanningConfig):
    """Parameters of `cmas`."""

    name: Literal["cmas"]


def build(config: CmasConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team: followers, and the coordinator.

    Raises:
        ValueError: the topology has no coordinator that directs, or a template is not there.
    """
    needs_leader("cmas", context.topology, rounds=0)
    factory = TeamFactory(config, context)
    followers = [Follower(factory.world, config.pause) for _ in factory.world.agents]
    return [*followers, factory.coordinator(OnePlanner(factory.asker()))]


component = Component(CmasConfig, build, uses_models=True)

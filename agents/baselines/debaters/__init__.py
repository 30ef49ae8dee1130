"""Multi-agent debate: several planners propose, see each other's plans, and a rule merges the last ones.

After Du et al., arXiv 2305.14325, as the LLaMAC paper has it beside its own: all at once in each round.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import PositiveInt

from maeil.component import Component, TeamContext
from maeil.mind import Mind
from quorum.agents.baselines.debaters.panel import Panel
from quorum.agents.baselines.factory import TeamFactory
from quorum.agents.baselines.settings import PlanningConfig
from quorum.agents.coordination.follower import Follower
from quorum.agents.coordination.topology_checks import needs_leader


class DebatersConfig(PlanningConfig):
    """Parameters of `debaters`."""

    name: Literal["debaters"]
    debaters: PositiveInt
    """How many propose."""
    rounds: PositiveInt
    """How often each proposes; from the second time on it sees what the others proposed last."""


def build(config: DebatersConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team: followers, and the coordinator in whose place the debaters are.

    Raises:
        ValueError: the topology has no coordinator that directs, or a template is not there.
    """
    needs_leader("debaters", context.topology, rounds=0)
    factory = TeamFactory(config, context)
    panel = Panel(factory.asker(), config.debaters, config.rounds, factory.skills.merge())
    return [*(Follower(factory.world, config.pause) for _ in factory.world.agents), factory.coordinator(panel)]


component = Component(DebatersConfig, build, uses_models=True)

"""HMAS-1: the coordinator makes a joint plan, and those whom it names talk it over (arXiv 2309.15943)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from maeil.component import Component, TeamContext
from maeil.mind import Mind
from quorum.agents.baselines.answers import TalkAnswers
from quorum.agents.baselines.coordinator import OnePlanner
from quorum.agents.baselines.factory import TeamFactory
from quorum.agents.baselines.settings import PlanningConfig
from quorum.agents.baselines.talker import Talker
from quorum.agents.coordination.topology_checks import needs_dialogue


class Hmas1Config(PlanningConfig):
    """Parameters of `hmas1`."""

    name: Literal["hmas1"]


def build(config: Hmas1Config, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team: talkers, and the coordinator.

    Raises:
        ValueError: the topology is no dialogue that the coordinator opens, or a template is not there.
    """
    turns = needs_dialogue("hmas1", context.topology, opens="coordinator")
    factory = TeamFactory(config, context)
    return [*talkers(factory, config.pause, turns), factory.coordinator(OnePlanner(factory.asker()))]


def talkers(factory: TeamFactory, pause: int, turns: int) -> list[Mind]:
    """Make the agents of a dialogue.

    Args:
        factory: makes their parts.
        pause: steps that they wait without a part.
        turns: how often each may speak.
    """
    answers = factory.answers(TalkAnswers)
    return [
        Talker(
            factory.asker(name, TalkAnswers),
            answers,
            factory.world,
            factory.skills.briefing(),
            factory.history(),
            pause=pause,
            turns=turns,
        )
        for name in factory.world.agents
    ]


component = Component(Hmas1Config, build, uses_models=True)

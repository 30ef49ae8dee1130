"""Theory of mind by hypotheses (Hypothetical Minds, arXiv 2407.07086): minds that predict the others, and plan by it.

`hypotheses.py` holds the published scores, `mind.py` the order in which models are asked. docs/tom.md says what is
decided here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from maeil.component import Compatibility, Component, TeamContext
from maeil.extensions.predictions import REQUIRED
from maeil.mind import COORDINATOR, Mind
from quorum.agents.naive import NaiveMind
from quorum.agents.naive.answers import AnswerTypes
from quorum.agents.naive.prompts import PromptWriter
from quorum.agents.prompting.answers import answers_of
from quorum.agents.skills import check_predictable, check_typed, prompts_of
from quorum.agents.tom.asking import RoleAsker
from quorum.agents.tom.hypotheses import Partner
from quorum.agents.tom.mind import TomMind
from quorum.agents.tom.prompts import TomPrompts, role_templates
from quorum.agents.tom.settings import TomConfig, TomRole


def build(config: TomConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team: one for each agent, and a zero-shot one for the coordinator.

    Raises:
        ValueError: there is only one task in this world, or a template of the set cannot be read.
    """
    _check(config, context.world.name)
    world = context.world
    answers: AnswerTypes = answers_of(AnswerTypes, tuple(world.vocabulary), config.max_actions)
    turns = PromptWriter(config.prompts, world, context.topology, answers)
    roles = TomPrompts(config.prompts, world, config.max_actions)
    in_words = config.prompts.form == "words"

    def planner(name: str) -> NaiveMind:
        return NaiveMind(context.models(name), turns, answers, config.repairs)

    minds: list[Mind] = [
        TomMind(
            planner(name),
            RoleAsker(context.models(name), roles, config.repairs, in_words=in_words),
            [
                Partner(agent, other, kept=config.hypotheses, alpha=config.alpha, threshold=config.threshold)
                for agent, other in enumerate(world.agents)
                if other != name
            ],
        )
        for name in world.agents
    ]
    return [*minds, *([planner(COORDINATOR)] if context.coordinates else [])]


def inputs(config: TomConfig, world: str) -> Mapping[str, str]:
    """Return the digests of the templates that prompts are made of in a world, by its name.

    Raises:
        ValueError: a template is not there, or the world has but one task, or the set asks for no typed JSON.
    """
    _check(config, world)
    return role_templates(config.prompts, world, prompts_of(world)).sources


def _check(config: TomConfig, world: str) -> None:
    check_typed("tom", config.prompts)
    check_predictable("agents=tom", world)


def roles_of(_config: TomConfig) -> Sequence[TomRole]:
    """Return the roles in which models are asked before a turn."""
    return tuple(TomRole)


component = Component(
    TomConfig,
    build,
    uses_models=True,
    inputs=inputs,
    requires=lambda _: REQUIRED,
    roles=roles_of,
    compatible=Compatibility.ANYBODY,
)

__all__ = ["Partner", "TomConfig", "TomMind", "TomRole", "build", "component"]

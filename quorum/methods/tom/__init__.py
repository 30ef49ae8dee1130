"""Theory of mind by hypotheses (Hypothetical Minds, arXiv 2407.07086): minds predict others and plan accordingly.

`hypotheses.py` holds the published scores, `mind.py` the order of the model calls. docs/tom.md lists the choices made
here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from maeil.component import Compatibility, Component, TeamContext
from maeil.mind import COORDINATOR, Mind
from quorum.agents.llm.conversation import AskingConfig
from quorum.agents.naive import NaiveMind, answers_of_team
from quorum.agents.naive.prompts import PromptWriter
from quorum.agents.prompting.requests import Asker
from quorum.agents.prompting.templates import PromptSet
from quorum.agents.skills import check_predictable, check_typed
from quorum.methods.predictions import REQUIRED
from quorum.methods.tom.answers import TomRole
from quorum.methods.tom.hypotheses import Partner
from quorum.methods.tom.mind import TomMind, TomPrompts, role_templates


class TomConfig(AskingConfig):
    """Parameters of `tom`."""

    name: Literal["tom"]
    hypotheses: PositiveInt
    """Number of hypotheses kept about each other agent, by highest value, in addition to the latest."""
    alpha: Annotated[float, Field(gt=0, le=1)]
    """Rate at which a hypothesis's value moves to 1 when it is right and to -1 when it is wrong."""
    threshold: Annotated[float, Field(ge=-1, lt=1)]
    """The value above which a hypothesis is reused and no other is requested."""
    prompts: PromptSet
    """The prompt set."""
    max_actions: PositiveInt
    """Maximum number of actions in a plan."""
    repairs: NonNegativeInt
    """Maximum number of retries when an answer does not match the types of its turn or role."""


def build(config: TomConfig, context: TeamContext) -> Sequence[Mind]:
    """Build one mind per agent, and a zero-shot mind for the coordinator.

    Raises:
        ValueError: the world has only one task, or a template of the set cannot be read.
    """
    _check(config, context.world.name)
    world = context.world
    answers = answers_of_team(context, config.max_actions)
    turns = PromptWriter(config.prompts, world, context.topology, answers, context.thoughts)
    roles = TomPrompts(config.prompts, world, config.max_actions, context.thoughts)

    def planner(name: str) -> NaiveMind:
        return NaiveMind(Asker(context.models(name), config.repairs), turns)

    def partners(name: str) -> dict[str, Partner]:
        others = ((agent, other) for agent, other in enumerate(world.agents) if other != name)
        kept, alpha, threshold = config.hypotheses, config.alpha, config.threshold
        return {other: Partner(agent, kept, alpha, threshold) for agent, other in others}

    minds: list[Mind] = [
        TomMind(planner(name), roles, Asker(context.models(name), config.repairs), partners(name))
        for name in world.agents
    ]
    return [*minds, *([planner(COORDINATOR)] if context.coordinates else [])]


def inputs(config: TomConfig, world: str) -> Mapping[str, str]:
    """Return the digests of the prompt templates for a world, given its name.

    Raises:
        ValueError: a template is missing, the world has only one task, or the set does not use typed JSON.
    """
    _check(config, world)
    return role_templates(config.prompts, world).sources


def _check(config: TomConfig, world: str) -> None:
    check_typed("tom", config.prompts)
    check_predictable("agents=tom", world)


component = Component(
    TomConfig,
    build,
    uses_models=True,
    inputs=inputs,
    requires=lambda _: REQUIRED,
    roles=lambda _: tuple(TomRole),
    compatible=Compatibility.ANYBODY,
)

__all__ = ["Partner", "TomConfig", "TomMind", "TomRole", "build", "component"]

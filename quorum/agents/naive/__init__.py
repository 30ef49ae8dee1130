"""Zero-shot minds based on a language model: one request per turn, typed answers, prompts from templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from maeil.component import Compatibility, Component, Handover, TeamContext, Usual
from maeil.extension import ExtensionConfig
from maeil.mind import COORDINATOR, Mind, View
from quorum.agents.answer_parts import parts_of
from quorum.agents.llm.conversation import AskingConfig
from quorum.agents.llm.protocol import ChatMessage
from quorum.agents.naive.answers import AnswerTypes
from quorum.agents.naive.mind import NaiveMind
from quorum.agents.naive.prompts import PromptWriter
from quorum.agents.prompting.answers import answers_of
from quorum.agents.prompting.requests import Asker
from quorum.agents.prompting.templates import PromptSet
from quorum.agents.skills import check_predictable, check_typed, prompts_of

PREDICTIONS = "predictions"
"""The extension that `predict` enables."""


class NaiveConfig(AskingConfig):
    """Parameters of `naive`."""

    name: Literal["naive"]
    prompts: PromptSet
    """The prompt set."""
    max_actions: Annotated[int, Field(ge=1)]
    """Maximum number of actions in a plan."""
    repairs: Annotated[int, Field(ge=0)]
    """Maximum number of repeated requests after an answer that does not match its turn's types."""
    predict: Annotated[bool, Usual(False)]
    """Whether turns that plan also ask what the others will do next."""


def build(config: NaiveConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team, one for each agent and the coordinator, each with its configured model.

    Raises:
        ValueError: this world has no prompt, or a template of the set cannot be read.
    """
    names = [*context.world.agents, *([COORDINATOR] if context.coordinates else [])]
    prompts, embeds = _prompts(config, context), context.topology.embeds
    return [NaiveMind(Asker(context.models(name), config.repairs), prompts, embeds) for name in names]


def render_prompt(config: NaiveConfig, context: TeamContext, view: View) -> tuple[ChatMessage, ...]:
    """Write the prompt of a turn exactly as the mind would send it, without calling a model.

    Raises:
        ValueError: this world has no prompt, or a template of the set cannot be read or rendered.
    """
    return _prompts(config, context).write(view)


def _prompts(config: NaiveConfig, context: TeamContext) -> PromptWriter:
    check_typed(config.name, config.prompts)
    if config.predict:
        check_predictable(f"agents={config.name} agents.predict=true", context.world.name)
    answers = answers_of_team(context, config.max_actions, _parts(config))
    return PromptWriter(config.prompts, context.world, context.topology, answers, context.thoughts)


def _parts(config: NaiveConfig) -> tuple[str, ...]:
    """Return the extensions that turns ask for because of these values, whatever the topology."""
    return (PREDICTIONS,) if config.predict else ()


def answers_of_team(context: TeamContext, max_actions: int, parts: Sequence[str] = ()) -> AnswerTypes:
    """Return a team's answer types, including the answer parts that its turns can ask for.

    They are made once for all teams of a process.

    Args:
        context: the team.
        max_actions: maximum number of actions in a plan.
        parts: names of extensions that turns ask for, in addition to those that the topology names.
    """
    topology = context.topology
    talks = topology.talks and (topology.coordinated or len(context.world.agents) > 1)
    names = tuple(sorted({*parts, *topology.asks}))
    found: AnswerTypes = answers_of(AnswerTypes, tuple(context.world.vocabulary), max_actions, names, talks)
    return found


def inputs(config: NaiveConfig, world: str) -> Mapping[str, str]:
    """Return the digests of the prompt templates of a world.

    Raises:
        ValueError: a template is missing, none in the set's own folder is used, or the set does not use typed JSON.
    """
    check_typed(config.name, config.prompts)
    found = config.prompts.for_turns(world, prompts_of(world)).sources
    for one in parts_of(_parts(config)):
        found = {**found, **config.prompts.for_ending(one.ending, world, prompts_of(world)).sources}
    return found


component = Component(
    NaiveConfig,
    build,
    uses_models=True,
    inputs=inputs,
    requires=lambda config: {name: ExtensionConfig() for name in _parts(config)},
    compatible=Compatibility.ANYBODY,
    handover=Handover.FRESH,
)

__all__ = ["NaiveConfig", "NaiveMind", "PromptSet", "build", "component", "render_prompt"]

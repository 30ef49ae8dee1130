"""Zero-shot minds around a language model: one request a turn, typed answers, prompts from templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from maeil.component import Component, ComponentConfig, TeamContext
from maeil.mind import COORDINATOR, Mind, View
from quorum.agents.llm.protocol import ChatMessage
from quorum.agents.naive.answers import AnswerTypes
from quorum.agents.naive.mind import NaiveMind
from quorum.agents.naive.prompts import PromptWriter
from quorum.agents.prompting.answers import answers_of
from quorum.agents.prompting.sets import PromptSet
from quorum.agents.skills import prompts_of


class NaiveConfig(ComponentConfig):
    """Parameters of `naive`."""

    name: Literal["naive"]
    prompts: PromptSet
    """The set of prompts."""
    max_actions: Annotated[int, Field(ge=1)]
    """Actions of a plan, at most."""
    repairs: Annotated[int, Field(ge=0)]
    """Times that an answer that does not have the types of its turn is asked for again."""


def build(config: NaiveConfig, context: TeamContext) -> Sequence[Mind]:
    """Make the minds of a team, one for each agent and the coordinator, each with the model that its name gets.

    Raises:
        ValueError: there is no prompt for this world, or a template of the set cannot be read.
    """
    names = [*context.world.agents, *([COORDINATOR] if context.topology.coordinated else [])]
    answers = _answers(config, context)
    prompts = PromptWriter(config.prompts, context.world, context.topology, answers)
    return [NaiveMind(context.models(name), prompts, answers, config.repairs) for name in names]


def render_prompt(config: NaiveConfig, context: TeamContext, view: View) -> tuple[ChatMessage, ...]:
    """Write the prompt of a turn, as the mind would send it; no model is asked.

    Raises:
        ValueError: there is no prompt for this world, or a template of the set cannot be read or filled in.
    """
    return PromptWriter(config.prompts, context.world, context.topology, _answers(config, context)).write(view)


def _answers(config: NaiveConfig, context: TeamContext) -> AnswerTypes:
    _check_form(config)
    found: AnswerTypes = answers_of(AnswerTypes, tuple(context.world.vocabulary), config.max_actions)
    return found


def inputs(config: NaiveConfig, world: str) -> Mapping[str, str]:
    """Return the digests of the templates that prompts are made of in a world, by its name.

    Raises:
        ValueError: a template is not there, nothing in the set's own folder is used, or the set asks for no typed JSON.
    """
    _check_form(config)
    return config.prompts.for_turns(world, prompts_of(world)).sources


def repair_inputs(config: NaiveConfig, world: str) -> Mapping[str, str]:
    """Return the digests of the template that turns of a repair are told by.

    Raises:
        ValueError: it cannot be read.
    """
    return config.prompts.for_repairs(world, prompts_of(world)).sources


def _check_form(config: NaiveConfig) -> None:
    if config.prompts.form == "text":
        raise ValueError(
            "agents=naive answers in typed JSON, and these prompts ask for text (prompts.form=text): they are for "
            "teams with roles, such as agents=llamac and agents=hmas2. Set prompts=default"
        )


component = Component(NaiveConfig, build, uses_models=True, inputs=inputs, repairs=repair_inputs)

__all__ = ["NaiveConfig", "NaiveMind", "PromptSet", "build", "component", "render_prompt"]

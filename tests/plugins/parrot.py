"""A third party's language model, and minds that ask it, registered the way a user would with `--plugin parrot`.

The minds walk in the corridor of the plugin `corridor`: as many cells as the model says.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

import corridor

from maeil import Call, Component, ComponentConfig, Plan, Task, TeamContext, Thought, View
from quorum.agents.llm.protocol import (
    AnswerFormat,
    ChatMessage,
    ChatRole,
    Finish,
    Model,
    Reply,
    Request,
    Sampling,
    Usage,
)
from quorum.agents.llm.provided import ProvidedModel
from quorum.configuration.providers.config import ProviderConfig
from quorum.configuration.registry import minds, providers

FORMAT = AnswerFormat(
    "walk",
    {
        "type": "object",
        "properties": {"cells": {"type": "integer"}},
        "required": ["cells"],
        "additionalProperties": False,
    },
)


class ParrotConfig(ProviderConfig):
    """Values of `parrot`."""

    name: Literal["parrot"]
    says: str
    """What it always answers."""
    usd: float | None
    """Price of an answer; null: unknown."""

    @property
    def priced(self) -> bool:
        return self.usd is not None


class Parrot(ProvidedModel):
    """Always says the same."""

    def __init__(self, config: ParrotConfig) -> None:
        self.config = config
        self.asked: list[Request] = []

    async def complete(self, request: Request) -> Reply:
        self.asked.append(request)
        return Reply(self.config.says, Finish.STOP, Usage(10, 2), self.config.usd, 0.0, "parrot-1")


class AskerConfig(ComponentConfig):
    """`asker` has no parameters."""

    name: Literal["asker"]


class Asker:
    """Walks as far as its model says."""

    def __init__(self, model: Model) -> None:
        self.model = model

    async def think(self, view: View) -> Thought:
        messages = (ChatMessage(ChatRole.USER, f"{view.name} is in {view.observation.text()}. How far does it walk?"),)
        reply = await self.model.complete(Request(messages, FORMAT, Sampling(None, 100)))
        cells = json.loads(reply.text)["cells"]
        record = {"completion_tokens": reply.usage.completion, "usd": reply.usd, "model": reply.model}
        return Thought(
            Plan((corridor.Walk(cells=cells),), Task("walk", "end")), calls=(Call(reply.usage.completion, record),)
        )


def build_askers(config: AskerConfig, context: TeamContext) -> Sequence[Asker]:
    """Make an asker for each agent."""
    return [Asker(context.models(name)) for name in context.world.agents]


providers.register("parrot", Component(ParrotConfig, lambda config, _context: Parrot(config)))
minds.register("asker", Component(AskerConfig, build_askers, uses_models=True))

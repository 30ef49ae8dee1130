"""A provider without a language model: it returns the smallest answer that fits the request."""

from __future__ import annotations

from typing import Literal

import orjson

from maeil import Component
from quorum.agents.llm.protocol import Finish, Reply, Request, Usage
from quorum.agents.llm.provided import ProvidedModel
from quorum.agents.prompting.instances import minimal_instance
from quorum.configuration.providers.config import ProviderConfig
from quorum.configuration.registry import providers


class SmallestConfig(ProviderConfig):
    """The values of `configs/llm/smallest.yaml`: those of every provider, and a price."""

    name: Literal["smallest"]
    usd: float
    """Price of an answer."""

    @property
    def priced(self) -> bool:
        """Whether replies state their cost even though no price table lists the model."""
        return True


class SmallestModel(ProvidedModel):
    """Tries once; retries, repairs, limits, the cache and budgets are wrapped around it.

    Args:
        config: its values.
    """

    def __init__(self, config: SmallestConfig) -> None:
        self._usd = config.usd

    async def complete(self, request: Request) -> Reply:
        """Answer a request. A token is a character here; all results are marked `simulated`."""
        value = minimal_instance(request.answer.schema) if request.answer is not None else "nothing"
        text = orjson.dumps(value).decode()
        usage = Usage(prompt=sum(len(message.content) for message in request.messages), completion=len(text))
        return Reply(text, Finish.STOP, usage, self._usd, 0.0, "smallest", simulated=True)


def build(config: SmallestConfig, _context: None) -> SmallestModel:
    """Build the model."""
    return SmallestModel(config)


providers.register("smallest", Component(SmallestConfig, build))

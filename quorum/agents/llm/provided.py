"""The contract of a language model built by a provider."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from quorum.agents.llm.errors import Unreachable
from quorum.agents.llm.prices import Price
from quorum.agents.llm.protocol import Reply, Request


class ProvidedModel(ABC):
    """A language model built by a provider. Subclasses only need `complete`; wrappers are plain `Model`s."""

    price: Price | None = None
    """Price of the model; None if unknown."""

    @property
    def identity(self) -> Mapping[str, str]:
        """The settings that reach the model: part of every cache key; empty: all values of the configuration."""
        return {}

    @abstractmethod
    async def complete(self, request: Request) -> Reply:
        """Answer a request. It tries once: retries, repairs and limits are separate wrappers.

        Raises:
            quorum.agents.llm.errors.LanguageModelError: there is no answer; the error says why.
        """

    async def reach(self) -> Unreachable | None:
        """Connect to the server without a request, at no cost; return the reason for a failure, or None."""
        return None

    async def close(self) -> None:
        """Close the connections, if any."""
        return

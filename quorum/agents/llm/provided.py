"""The contract of a language model as a provider builds it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from quorum.agents.llm.errors import Unreachable
from quorum.agents.llm.prices import Price
from quorum.agents.llm.protocol import Reply, Request


class ProvidedModel(ABC):
    """A language model that a provider builds. A subclass needs `complete` alone; wrappers are plain `Model`s."""

    price: Price | None = None
    """Of the model; None where it is not known."""

    @property
    def identity(self) -> Mapping[str, str]:
        """What of its settings reaches the model: a part of every cache key; empty: all values of the configuration."""
        return {}

    @abstractmethod
    async def complete(self, request: Request) -> Reply:
        """Answer a request. It tries once: retries, repairs and limits are wrappers of their own.

        Raises:
            quorum.agents.llm.errors.LanguageModelError: no answer came, and why.
        """

    async def reach(self) -> Unreachable | None:
        """Connect to the server without asking anything, which costs nothing; return why that fails, or None."""
        return None

    async def close(self) -> None:
        """Close the connections, if it has any."""
        return

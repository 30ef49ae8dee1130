"""The contract for sending requests to providers other than by single calls: in batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager

from quorum.agents.llm.prices import Price
from quorum.agents.llm.protocol import Model
from quorum.agents.llm.provided import ProvidedModel


class Delivery(ABC):
    """Replaces the provider for all episodes of a process and collects their requests. For one event loop."""

    @abstractmethod
    def model(self, provider: ProvidedModel, key: str, cell: str, price: Price | None) -> Model:
        """Return the model that an episode uses instead of a provider.

        Args:
            provider: builds the requests and reads the answers.
            key: identifier of the model and its provider; the same in every process.
            cell: name of the episode's cell.
            price: the model's price for single calls; None if unknown.

        Raises:
            TypeError: the provider does not support this.
        """

    @abstractmethod
    def episode(self, cell: str) -> AbstractContextManager[None]:
        """Mark an episode as running, so that its requests are worth waiting for."""

    @abstractmethod
    def facts(self) -> tuple[str, ...]:
        """Return the state of the delivery, as parts of a status line."""

    @abstractmethod
    async def close(self) -> None:
        """Release connections and files; requests under way stay with the provider."""

"""The contract of what brings requests to providers in another way than by one call each: in batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager

from quorum.agents.llm.prices import Price
from quorum.agents.llm.protocol import Model
from quorum.agents.llm.provided import ProvidedModel


class Delivery(ABC):
    """Takes the provider's place for all episodes of a process, and gathers their requests. For one event loop."""

    @abstractmethod
    def model(self, provider: ProvidedModel, key: str, cell: str, price: Price | None) -> Model:
        """Return what an episode asks instead of a provider.

        Args:
            provider: builds the requests and reads the answers.
            key: of the model and its provider; the same in every process.
            cell: name of the episode's cell.
            price: of the model for single calls; None if it is not known.

        Raises:
            TypeError: the provider cannot be asked in this way.
        """

    @abstractmethod
    def episode(self, cell: str) -> AbstractContextManager[None]:
        """Mark an episode as under way: its requests are worth waiting for."""

    @abstractmethod
    def facts(self) -> tuple[str, ...]:
        """Return the state of the delivery, as parts of a status line."""

    @abstractmethod
    async def close(self) -> None:
        """Release connections and files; what is under way stays with the provider."""

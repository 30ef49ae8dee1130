"""`llm=random`: random answers instead of a model's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from maeil.component import Component
from quorum.agents.simulated import CHANCE
from quorum.configuration.providers.config import ProviderConfig

if TYPE_CHECKING:
    from quorum.agents.simulated.chance import RandomModel


class RandomConfig(ProviderConfig):
    """Values of `random`."""

    name: Literal["random"]
    seed: int
    """Seed of all its draws."""

    @property
    def label(self) -> str:
        """Its label in names and tables."""
        return CHANCE

    @property
    def priced(self) -> bool:
        """Whether the replies report their cost, which is zero."""
        return True


def build(config: RandomConfig, _context: None) -> RandomModel:
    """Build the model that draws random answers."""
    from quorum.agents.simulated.chance import RandomModel  # noqa: PLC0415 (only when it is used)

    return RandomModel(config.seed)


component = Component(RandomConfig, build)

"""`llm=random`: answers drawn at random in a model's place."""

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
    """Of all its draws."""

    @property
    def label(self) -> str:
        """What stands for it in names and tables."""
        return CHANCE

    @property
    def priced(self) -> bool:
        """Whether the replies say what they cost: nothing."""
        return True


def build(config: RandomConfig, _context: None) -> RandomModel:
    """Make what draws the answers."""
    from quorum.agents.simulated.chance import RandomModel  # noqa: PLC0415 (only where it is asked)

    return RandomModel(config.seed)


component = Component(RandomConfig, build)

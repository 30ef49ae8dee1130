"""`llm=random` and `llm=echo`: answers drawn at random, or copied from the example in the prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from maeil.component import Component
from quorum.agents.simulated import CHANCE, ECHO
from quorum.configuration.providers.config import ProviderConfig

if TYPE_CHECKING:
    from quorum.agents.simulated.chance import RandomModel


class FloorConfig(ProviderConfig):
    """Values of `random` and `echo`."""

    name: Literal["random", "echo"]
    seed: int
    """Seed of all its draws."""

    @property
    def label(self) -> str:
        """Its label in names and tables."""
        return CHANCE if self.name == "random" else ECHO

    @property
    def priced(self) -> bool:
        """Whether the replies report their cost, which is zero."""
        return True


def build(config: FloorConfig, _context: None) -> RandomModel:
    """Build the model."""
    from quorum.agents.simulated.chance import RandomModel  # noqa: PLC0415 (only when it is used)
    from quorum.agents.simulated.echo import EchoModel  # noqa: PLC0415

    return (RandomModel if config.name == "random" else EchoModel)(config.seed)


component = Component(FloorConfig, build)

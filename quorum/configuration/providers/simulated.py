"""`llm=simulated`: rules instead of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from maeil.component import Component
from quorum.agents.simulated import NAME, SimulatedSettings
from quorum.configuration.providers.config import ProviderConfig

if TYPE_CHECKING:
    from quorum.agents.simulated.model import SimulatedModel


class SimulatedConfig(ProviderConfig, SimulatedSettings):
    """Values of `simulated`."""

    name: Literal["simulated"]
    calibrated_to: str
    """What its rates are fitted to, as stated in its replies; empty if nothing."""

    @property
    def priced(self) -> bool:
        """Whether the replies report their cost: its prices are among its values."""
        return True


def build(config: SimulatedConfig, _context: None) -> SimulatedModel:
    """Build the simulated model."""
    from quorum.agents.simulated.model import SimulatedModel  # noqa: PLC0415 (only when it is used)

    return SimulatedModel(config, f"{NAME} (calibrated to {config.calibrated_to})" if config.calibrated_to else NAME)


component = Component(SimulatedConfig, build)

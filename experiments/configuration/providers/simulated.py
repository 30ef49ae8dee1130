"""`llm=simulated`: rules in a model's place."""

from __future__ import annotations

from typing import Literal

from maeil.component import Component
from quorum.agents.simulated import SimulatedModel, SimulatedSettings
from quorum.experiments.configuration.providers.config import ProviderConfig


class SimulatedConfig(ProviderConfig, SimulatedSettings):
    """Values of `simulated`."""

    name: Literal["simulated"]

    @property
    def priced(self) -> bool:
        """Whether the replies say what they cost: its prices are its own values."""
        return True


component = Component(SimulatedConfig, SimulatedModel)

"""`llm=simulated`: rules in a model's place."""

from __future__ import annotations

from typing import Literal

from maeil.component import Component
from quorum.agents.llm.protocol import Model
from quorum.agents.simulated import SimulatedModel, SimulatedSettings
from quorum.experiments.configuration.providers.config import ProviderConfig


class SimulatedConfig(ProviderConfig, SimulatedSettings):
    """Values of `simulated`."""

    name: Literal["simulated"]

    @property
    def priced(self) -> bool:
        """Whether the replies say what they cost: its prices are its own values."""
        return True


def build(config: SimulatedConfig, _context: None) -> Model:
    """Make the simulated model; it needs no network and no key."""
    settings = config.model_dump(include=set(SimulatedSettings.model_fields))
    return SimulatedModel(SimulatedSettings(**settings))


component = Component(SimulatedConfig, build)

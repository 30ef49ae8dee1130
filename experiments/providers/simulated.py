"""`llm=simulated`: rules in a model's place."""

from __future__ import annotations

from typing import Literal

from quorum.agents.llm.protocol import Model
from quorum.agents.llm.simulated import SimulatedModel, SimulatedSettings
from quorum.experiments.providers.config import ProviderConfig
from maeil.component import Component


class SimulatedConfig(ProviderConfig, SimulatedSettings):
    """Values of `simulated`."""

    name: Literal["simulated"]

    @property
    def priced(self) -> bool:
        """Whether the replies say what they cost: its prices are its own values."""
        return True


def build(config: SimulatedConfig) -> Model:
    """Make the simulated model; it needs no network and no key."""
    settings = config.model_dump(include=set(SimulatedSettings.model_fields))
    return SimulatedModel(SimulatedSettings(**settings))


component = Component(SimulatedConfig, build)

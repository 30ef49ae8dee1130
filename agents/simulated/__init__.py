"""A language model that is none: seeded rules that read the same prompts and answer in the same formats."""

from __future__ import annotations

from quorum.agents.simulated.model import NAME, SimulatedModel, SimulatedSettings

__all__ = ["NAME", "SimulatedModel", "SimulatedSettings"]

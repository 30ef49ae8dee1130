"""A simulated language model: seeded rules that read the same prompts and answer in the same formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quorum.agents.simulated.settings import NAME, SimulatedSettings

if TYPE_CHECKING:
    from quorum.agents.simulated.model import SimulatedModel

__all__ = ["NAME", "SimulatedModel", "SimulatedSettings"]


def __getattr__(name: str) -> Any:
    """Import the model when it is first asked for: it knows the prompts of all minds."""
    if name != "SimulatedModel":
        raise AttributeError(name)
    from quorum.agents.simulated.model import SimulatedModel  # noqa: PLC0415 (costs 0.1 s: only where it is used)

    return SimulatedModel

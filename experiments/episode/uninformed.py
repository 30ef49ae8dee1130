"""What is to be known before the simulated model plays in a world of which it has no rules."""

from __future__ import annotations

from quorum.agents.skills import skills_of
from quorum.experiments.configuration.providers.simulated import SimulatedConfig
from quorum.experiments.configuration.schema import Configuration


def uninformed(configuration: Configuration) -> str:
    """Say that the simulated model does not know a world; empty where it does, or where it is not asked."""
    c = configuration
    models = (c.llm, *c.special_models.values()) if c.uses_models else ()
    if not any(isinstance(model, SimulatedConfig) for model in models) or skills_of(c.env.name).has("speaker"):
        return ""
    return (
        f"the simulated model has no rules for the world '{c.env.name}': its plans are valid and uninformed. "
        "Skills with a speaker give it some: docs/writing-a-world.md"
    )

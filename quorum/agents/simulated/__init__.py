"""A simulated language model: seeded rules that read the same prompts and answer in the same formats."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["CHANCE", "ECHO", "FLOORS", "NAME", "SimulatedSettings"]

Rate = Annotated[float, Field(ge=0, le=1)]
Money = Annotated[float, Field(ge=0)]

NAME = "simulated"
"""Name of the model; all results made from its answers state it."""
CHANCE = "chance"
"""Name of the model for answers drawn at random."""
ECHO = "echo"
"""Name of the model for answers copied from the example in the prompt."""
FLOORS = (CHANCE, ECHO)
"""Names of the answers without a mind: the levels that a model must exceed."""


class SimulatedSettings(BaseModel):
    """Behaviour of a simulated model. Each rate applies independently to each request."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int
    """Seed of all its draws."""
    malformed: Rate
    """Probability that an answer is not valid JSON."""
    invalid: Rate
    """Probability of an invalid plan: half of these name something that does not exist, half have a wrong argument."""
    poor: Rate
    """Probability of a random choice instead of the rules'."""
    wasted: Rate
    """Probability that a plan only waits, in worlds with an action that does nothing."""
    refusal: Rate
    """Probability that it refuses to answer."""
    prose: Rate
    """Probability of prose or a code fence around the JSON."""
    usd_per_million_prompt: Money
    """Price of a million tokens read."""
    usd_per_million_completion: Money
    """Price of a million tokens written."""
    latency: Annotated[float, Field(ge=0)]
    """Seconds per answer."""

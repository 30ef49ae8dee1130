"""A simulated language model: seeded rules that read the same prompts and answer in the same formats."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["CHANCE", "NAME", "SimulatedSettings"]

Rate = Annotated[float, Field(ge=0, le=1)]
Money = Annotated[float, Field(ge=0)]

NAME = "simulated"
"""What it calls itself; everything that is made of its answers says so."""
CHANCE = "chance"
"""What answers that are drawn at random are called in a model's place."""


class SimulatedSettings(BaseModel):
    """How a simulated model behaves. The rates are independent draws of each request."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int
    """Of all its draws."""
    malformed: Rate
    """Probability that an answer is no valid JSON."""
    invalid: Rate
    """Probability that a plan is invalid: half of them name something that is not there, half have a wrong argument."""
    poor: Rate
    """Probability that a choice is made at random instead of by the rules, in a team of one."""
    crowding: Rate
    """What each further member of the team adds to `poor`: long prompts distract."""
    refusal: Rate
    """Probability that it refuses to answer."""
    prose: Rate
    """Probability of prose or a code fence around the JSON."""
    usd_per_million_prompt: Money
    """Price of a million tokens read."""
    usd_per_million_completion: Money
    """Price of a million tokens written."""
    latency: Annotated[float, Field(ge=0)]
    """Seconds that each answer takes."""

"""The schema of `extension.heal`, and the function that builds the healers."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from healers.healing import Healing, HealSettings
from maeil.dig.patterns import Pattern, Thresholds
from maeil.extension import ExtensionConfig, ExtensionContext


def _each_once(healers: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    """Sort healers in the order of the patterns, so that equal sets are equal values.

    Raises:
        ValueError: a healer appears twice.
    """
    twice = next((one for one in Pattern if healers.count(one) > 1), None)
    if twice is not None:
        raise ValueError(f"{twice} is there twice")
    return tuple(one for one in Pattern if one in healers)


class HealConfig(ExtensionConfig):
    """Values of `extension.heal`."""

    healers: Annotated[tuple[Pattern, ...], Field(min_length=1), AfterValidator(_each_once)]
    """The active healers, in the order of the patterns."""
    orphan_steps: Annotated[int, Field(ge=0)]
    """Steps after which a message that no agent acted on is an orphan."""
    reroutes: Annotated[int, Field(ge=0)]
    """Number of agents that may pass a message on."""
    depth: Annotated[int, Field(ge=0)]
    """Maximum number of thoughts to trace back from a message to the origin of its work."""
    idle_steps: Annotated[int, Field(ge=0)]
    """Steps without progress that do not yet count as a deadlock."""
    attempts: Annotated[int, Field(ge=1)]
    """Maximum number of times per episode that a healer speaks about plans with too few agents."""


def build(config: HealConfig, _context: ExtensionContext) -> Healing:
    """Build the healers."""
    numbers = Thresholds(config.orphan_steps, config.reroutes, config.depth, config.idle_steps)
    return Healing(HealSettings(config.healers, numbers, config.attempts))

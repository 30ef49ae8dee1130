"""The schema of `extension.heal`, and what builds the healers."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from healers.healing import Healing, HealSettings
from maeil.dig.patterns import Pattern, Thresholds
from maeil.extension import ExtensionConfig, ExtensionContext


def _each_once(healers: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    """Put healers in the order of the patterns, so that equal sets are one value.

    Raises:
        ValueError: one is there twice.
    """
    twice = next((one for one in Pattern if healers.count(one) > 1), None)
    if twice is not None:
        raise ValueError(f"{twice} is there twice")
    return tuple(one for one in Pattern if one in healers)


class HealConfig(ExtensionConfig):
    """Values of `extension.heal`."""

    healers: Annotated[tuple[Pattern, ...], Field(min_length=1), AfterValidator(_each_once)]
    """Who speaks, in the order of the patterns."""
    orphan_steps: Annotated[int, Field(ge=0)]
    """Steps after which a message that nobody has taken up is an orphan."""
    reroutes: Annotated[int, Field(ge=0)]
    """Agents that may pass a message on."""
    depth: Annotated[int, Field(ge=0)]
    """Thoughts to go back from a message to where its work came from, at most."""
    idle_steps: Annotated[int, Field(ge=0)]
    """Steps without progress that are no deadlock yet."""
    attempts: Annotated[int, Field(ge=1)]
    """Times that a healer speaks about plans of too few agents in an episode, at most."""


def build(config: HealConfig, _context: ExtensionContext) -> Healing:
    """Make the healers."""
    numbers = Thresholds(config.orphan_steps, config.reroutes, config.depth, config.idle_steps)
    return Healing(HealSettings(config.healers, numbers, config.attempts))

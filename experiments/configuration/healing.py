"""The schema of `heal` and `healing`: who speaks up when cooperation fails, and by which numbers."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from maeil.dig.patterns import Thresholds
from maeil.healing.watch import HealSettings
from maeil.notices import Pattern


def _each_once(healers: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    """Put healers in the order of the patterns, so that equal sets are one value.

    Raises:
        ValueError: one is there twice.
    """
    twice = next((one for one in Pattern if healers.count(one) > 1), None)
    if twice is not None:
        raise ValueError(f"{twice} is there twice")
    return tuple(one for one in Pattern if one in healers)


Healers = Annotated[tuple[Pattern, ...], AfterValidator(_each_once)]
"""Those who act, in the order of the patterns."""


class Healing(BaseModel):
    """The numbers in the rules of healers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    orphan_steps: Annotated[int, Field(ge=0)]
    """Steps after which a message that nobody has taken up is an orphan."""
    reroutes: Annotated[int, Field(ge=0)]
    """Agents that may pass a message on."""
    depth: Annotated[int, Field(ge=0)]
    """Thoughts to go back from a message to where its work came from, at most."""
    idle_steps: Annotated[int, Field(ge=0)]
    """Steps without progress that are no deadlock yet."""
    attempts: Annotated[int, Field(ge=1)]
    """Times that plans of too few are told so in an episode, at most."""

    def settings(self, healers: tuple[Pattern, ...]) -> HealSettings:
        """Return what the loop is given.

        Args:
            healers: those who act.
        """
        numbers = Thresholds(self.orphan_steps, self.reroutes, self.depth, self.idle_steps)
        return HealSettings(healers, numbers, self.attempts)

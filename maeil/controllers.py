"""What the controllers of all worlds share: the usual ends of an action, and the one that repeats a primitive."""

from __future__ import annotations

from typing import Final

from maeil.acting import Primitive
from maeil.actions import ActionStatus
from maeil.world import ActionEnd

SUCCESS: Final = ActionEnd(ActionStatus.SUCCESS)
"""The end of an action that came off."""


def failed(reason: str, *details: object) -> ActionEnd:
    """Return the end of an action that failed: `failed("too_few_agents", 1, "of", 3)`.

    Args:
        reason: why, as an identifier.
        details: numbers and names that follow it.
    """
    return ActionEnd(ActionStatus.FAILED, " ".join(map(str, (reason, *details))))


class Repeat:
    """Does one primitive for a number of ticks, then succeeds; fulfils `maeil.world.Controller`.

    It carries out the actions that nothing in the state can end: to wait, to walk blindly, to act once.

    Args:
        primitive: given at each tick.
        ticks: how often, at least once.
    """

    def __init__(self, primitive: Primitive, ticks: int) -> None:
        self.primitive = primitive
        self.ticks = ticks
        self._left = ticks

    def status(self) -> ActionEnd | None:
        """Return success when the ticks are over."""
        return None if self._left > 0 else SUCCESS

    def act(self) -> Primitive:
        """Return the primitive."""
        self._left -= 1
        return self.primitive

    def close(self) -> None:
        """Nothing is shared."""

"""Helpers for the controllers of all worlds: common ends of actions, and a controller that repeats a primitive."""

from __future__ import annotations

from typing import Final

from maeil.acting import Primitive
from maeil.actions import ActionStatus
from maeil.world import ActionEnd

SUCCESS: Final = ActionEnd(ActionStatus.SUCCESS)
"""The end of a successful action."""


def failed(reason: str, *details: object) -> ActionEnd:
    """Return the end of a failed action: `failed("too_few_agents", 1, "of", 3)`.

    Args:
        reason: an identifier of the reason.
        details: numbers and names to append to the reason.
    """
    return ActionEnd(ActionStatus.FAILED, " ".join(map(str, (reason, *details))))


class Repeat:
    """A `maeil.world.Controller` that repeats one primitive for a number of ticks, and then succeeds.

    It suits actions that no state of the world can end: waiting, walking blindly, acting once.

    Args:
        primitive: the primitive of each tick.
        ticks: number of ticks, at least 1.
    """

    def __init__(self, primitive: Primitive, ticks: int) -> None:
        self.primitive = primitive
        self.ticks = ticks
        self._left = ticks

    def status(self) -> ActionEnd | None:
        """Return success after the last tick."""
        return None if self._left > 0 else SUCCESS

    def act(self) -> Primitive:
        """Return the primitive."""
        self._left -= 1
        return self.primitive

    def close(self) -> None:
        """Do nothing: there are no shared resources."""

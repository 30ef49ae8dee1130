"""The symbolic action of the squeeze."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from llamac_env.squeeze.game import HIGHEST
from maeil.actions import ActionStatus, SymbolicAction, Vocabulary
from maeil.world import ActionEnd


class Pick(SymbolicAction):
    """Pick an integer for one round."""

    action: Literal["pick"] = "pick"
    units: Annotated[int, Field(ge=0, le=HIGHEST, description="the pick")]


class PickController:
    """Picks for one round; it always succeeds."""

    def __init__(self, action: Pick) -> None:
        self._units = action.units
        self._done = False

    def status(self) -> ActionEnd | None:
        """Succeed after the round."""
        return ActionEnd(ActionStatus.SUCCESS) if self._done else None

    def act(self) -> int:
        """Give the pick."""
        self._done = True
        return self._units

    def close(self) -> None:
        """Nothing is shared."""


VOCABULARY = Vocabulary(Pick)

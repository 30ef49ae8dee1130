"""Keeps what each agent has done lately, action by action, with the primitives it came to."""

from __future__ import annotations

from collections import deque

from cube_env.observation import HistoryEntry
from cube_env.symbolic.controllers import CubeController
from maeil.actions import ActionStatus, SymbolicAction
from maeil.world import Ended

HISTORY_LENGTH = 5
"""Symbolic actions that an observation shows."""

History = deque[HistoryEntry]


class RecordedController:
    """A controller whose primitives and end are written into its agent's history."""

    def __init__(self, inner: CubeController, action: SymbolicAction, history: History) -> None:
        self._inner = inner
        self._action = action
        self._history = history
        self._primitives: list[int] = []
        self._end = Ended(ActionStatus.CANCELLED)

    def status(self) -> Ended | None:
        """Tell whether the action has ended in the state as it is."""
        end = self._inner.status()
        if end is not None:
            self._end = end
        return end

    def act(self) -> int:
        """Give the primitive for the coming step."""
        primitive = int(self._inner.act())
        self._primitives.append(primitive)
        return primitive

    def close(self) -> None:
        """Write the entry."""
        self._inner.close()
        self._history.append(
            HistoryEntry(
                self._action.action,
                self._action.arguments(),
                tuple(self._primitives),
                self._end.status,
                self._end.reason,
            )
        )

"""The history of states and joint plans that a prompt has room for."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from quorum.agents.prompting.blocks import write_json

CHARACTERS_PER_TOKEN = 4


class History:
    """State-action pairs, as many of the newest as fit (HMAS-2: "only state-action pairs history").

    Args:
        tokens: that all of them may have, four characters each; 0 keeps nothing.
    """

    def __init__(self, tokens: int) -> None:
        self._room = tokens * CHARACTERS_PER_TOKEN
        self._pairs: deque[tuple[Mapping[str, Any], int]] = deque()
        self._characters = 0

    def add(self, step: int, state: object, plans: Mapping[str, Any]) -> None:
        """Note what was done in a state.

        Args:
            step: environment step.
            state: as the planner was shown it.
            plans: the joint plan by agent, JSON-ready.
        """
        if not self._room:
            return
        pair = {"step": step, "state": state, "plans": plans}
        self._pairs.append((pair, len(write_json(pair))))
        self._characters += self._pairs[-1][1]
        while self._characters > self._room:
            self._characters -= self._pairs.popleft()[1]

    @property
    def pairs(self) -> list[Mapping[str, Any]]:
        """The pairs that fit, oldest first, JSON-ready."""
        return [pair for pair, _ in self._pairs]

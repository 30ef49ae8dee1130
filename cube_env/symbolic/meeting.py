"""Agents that wait for each other and are set free together."""

from __future__ import annotations


class Meeting:
    """Those who wait in one place, each for a number of agents."""

    def __init__(self) -> None:
        self.waiting: dict[int, int] = {}
        """How many must be there, for each agent that waits."""
        self.released: set[int] = set()
        """Those whose wait is over and who have not left yet."""
        self._released_with = -1

    def join(self, agent: int, count: int) -> None:
        """Wait until `count` agents are there."""
        self.waiting[agent] = count
        self._released_with = -1

    def leave(self, agent: int) -> None:
        """Wait no more."""
        self.waiting.pop(agent, None)
        self.released.discard(agent)

    def release(self, others: int = 0) -> None:
        """Set everybody free who waits for no more agents than wait here, with `others` besides."""
        here = len(self.waiting) + others
        if here > self._released_with:
            self._released_with = here
            self.released.update(agent for agent, count in self.waiting.items() if count <= here)

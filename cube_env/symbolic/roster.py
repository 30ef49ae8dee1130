"""Who carries out which symbolic action, who has nothing to do, and what each agent did lately."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from cube_env.observation import HistoryEntry

HISTORY_LENGTH = 5
"""Ended symbolic actions that an observation shows."""


class Roster:
    """The actions of a team.

    Args:
        agents: number of agents.
    """

    def __init__(self, agents: int) -> None:
        self._running: list[Callable[[], HistoryEntry] | None] = [None] * agents
        self._ended: list[deque[HistoryEntry]] = [deque(maxlen=HISTORY_LENGTH) for _ in range(agents)]
        self._free_since = dict.fromkeys(range(agents), 0)
        self.moment = 0
        """Number of actions that have ended; tells one moment between two ends from another."""

    def begin(self, agent: int, entry: Callable[[], HistoryEntry]) -> None:
        """Note that an action begins.

        Args:
            agent: whose action it is.
            entry: returns how far the action is by now.
        """
        self._running[agent] = entry
        self._free_since.pop(agent, None)

    def end(self, agent: int, entry: HistoryEntry) -> None:
        """Note that an agent's action has ended, and how."""
        self.moment += 1
        self._running[agent] = None
        # Taken out and put in again, so that the latest stand last.
        self._free_since.pop(agent, None)
        self._free_since[agent] = self.moment
        self._ended[agent].append(entry)

    def free(self, asking: int, last_asked: int) -> int:
        """Return the number of agents that have nothing to do, as far as one who asks can know.

        An agent between two actions of its plan has none running for an instant. Agents are asked in index order, and
        before each round all who have a plan begin its next action. So the agents behind the one who asks have ended
        theirs before this round, and those before it have if they were free when it asked last.

        Args:
            asking: index of the agent who asks.
            last_asked: `moment` when it asked last.
        """
        doubtful = 0
        for agent, since in reversed(self._free_since.items()):
            if since <= last_asked:
                break
            doubtful += agent < asking
        return len(self._free_since) - doubtful

    def history(self, agent: int) -> tuple[HistoryEntry, ...]:
        """Return the last actions of an agent, oldest first; one that runs comes last, with the status `running`."""
        running = self._running[agent]
        return (*self._ended[agent], *(() if running is None else (running(),)))

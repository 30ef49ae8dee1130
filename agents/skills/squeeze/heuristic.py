"""The greedy rule for the squeeze: golden-section search over the sum, shared evenly.

It commands the team: its minds share what the team as a whole has picked. They send no messages.
"""

from __future__ import annotations

from llamac_env import HIGHEST, Pick, SqueezeObservation
from maeil.mind import View
from maeil.plans import Plan, Task
from quorum.agents.skills.commanded import CommandedMind
from quorum.agents.skills.squeeze.search import next_try, share


class SearchingTeam:
    """Gives orders to all agents of a team.

    Args:
        agents: number of agents.
    """

    def __init__(self, agents: int) -> None:
        self.minds = tuple(CommandedMind(self._decide) for _ in range(agents))
        self._sums: list[int] = []
        self._paid: dict[int, float] = {}

    def _decide(self, view: View) -> Plan:
        assert isinstance(view.observation, SqueezeObservation)
        return self.plan(view.agent, view.observation)

    def plan(self, agent: int, observation: SqueezeObservation) -> Plan:
        """Return the pick of an agent in this round: its share of the sum that the team tries."""
        if len(self._sums) == observation.round:
            if self._sums:
                self._paid[self._sums[-1]] = observation.history[-1].reward
            self._sums.append(next_try(self._paid, HIGHEST * len(self.minds)))
        pick = share(self._sums[observation.round], len(self.minds), HIGHEST)[agent]
        return Plan((Pick(units=pick),), Task("allocate", "system"), f"the team tries {self._sums[-1]} in all")

"""The greedy rules for CUBE: many teams at once, or one block at a time.

`GreedyTeam` works on as many blocks at once as there are agents for, the blocks nearest to the goal first, with just
enough agents each. `closest` is the heuristic of the CUBE page: agents are assigned to the block closest to the goal
and carry out `move_to_block`, `rendezvous` and `push_block` until it is delivered. The page does not say how many are
assigned. Here all are: agents beyond the block's weight line up behind the others and push too, so that none stands in
the way. Neither rule plans paths or accounts for congestion.
"""

from __future__ import annotations

from collections import Counter

from cube_env import SymbolicObservation
from maeil.mind import View
from maeil.plans import Plan, PlanStatus
from quorum.agents.skills.contract import CommandedMind
from quorum.agents.skills.cube.plans import CUBE, Wording, way


class GreedyTeam:
    """Commands all agents of a team.

    Its minds share their knowledge of which agent works on which block. They send no messages.

    Args:
        agents: number of agents.
        wording: vocabulary of its plans.
    """

    def __init__(self, agents: int, wording: Wording = CUBE) -> None:
        self._wording = wording
        self.minds = tuple(CommandedMind(self._decide) for _ in range(agents))
        self._block_of: dict[int, int] = {}

    def _decide(self, view: View) -> Plan:
        assert isinstance(view.observation, SymbolicObservation)
        stuck = bool(view.outcomes) and view.outcomes[-1].status is PlanStatus.TIMED_OUT
        return self.plan(view.agent, view.observation, stuck=stuck)

    def plan(self, agent: int, observation: SymbolicObservation, *, stuck: bool) -> Plan:
        """Return the next plan of an agent.

        Args:
            agent: its index.
            observation: its observation; all agents see the same board.
            stuck: whether its last plan timed out; then its whole team is formed again.
        """
        self._release(agent, observation, stuck=stuck)
        if agent not in self._block_of:
            self._assign(observation)
        block = next(block for block in observation.blocks if block.id == self._block_of[agent])
        return self._wording.delivery(
            block, f"of the blocks with a clear way, block {block.id} is the nearest to the goal that has room for me"
        )

    def _release(self, agent: int, observation: SymbolicObservation, *, stuck: bool) -> None:
        """Forget the teams of delivered blocks, and the team of a stuck agent."""
        live = {block.id for block in observation.blocks}
        own = self._block_of.get(agent)
        self._block_of = {
            member: block for member, block in self._block_of.items() if block in live and not (stuck and block == own)
        }

    def _assign(self, observation: SymbolicObservation) -> None:
        """Send the free agents to the blocks with a clear way: the nearest agents to each.

        Incomplete teams come first, so at most one team waits for more agents; then the blocks nearest to the goal. The
        remaining agents go to their nearest block: at its left face, or behind the agents pushing there, they block no
        one's way, and they push too.
        """
        free = [agent for agent in range(len(observation.agents)) if agent not in self._block_of]
        clear = [block for block in observation.blocks if not block.ahead]
        sizes = Counter(self._block_of.values())
        for block in sorted(clear, key=lambda block: (not sizes[block.id], block.distance, block.id)):
            free.sort(key=lambda agent: (way(observation.agents[agent], block), agent))
            room = max(block.weight - sizes[block.id], 0)
            self._block_of.update(dict.fromkeys(free[:room], block.id))
            free = free[room:]
        for agent in free:
            nearest = min(clear, key=lambda block: (way(observation.agents[agent], block), block.id))
            self._block_of[agent] = nearest.id


def closest(wording: Wording, view: View) -> Plan:
    """Return a plan to deliver the block closest to the goal; of several, the one with the lowest id.

    No state is kept: the block being pushed stays the closest until it is delivered.
    """
    assert isinstance(view.observation, SymbolicObservation)
    block = min(view.observation.blocks, key=lambda block: (block.distance, block.id))
    return wording.delivery(block, f"of all blocks, block {block.id} is the closest to the goal")

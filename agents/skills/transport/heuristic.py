"""The greedy rule for grid transportation: the world's greedy plan, carried out by a team that is commanded.

Easy: the box with the longest way first, to the neighbour with the shortest queue. Hard: box by box the quickest way
that is left. What agents do is decided a step at a time, and planned anew whenever the board is not what the plan
foresaw.
"""

from __future__ import annotations

from llamac_env import Board, JointMove
from maeil.mind import View
from maeil.plans import Plan
from maeil.world import World
from quorum.agents.skills.commanded import CommandedMind
from quorum.agents.skills.transport.briefing import observed
from quorum.agents.skills.transport.moves import greedy, one_step


class HandingTeam:
    """Gives orders to all agents of a team; its minds share the plan, and send no messages.

    Args:
        world: whose board it sees as a whole, whatever its agents see.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.minds = tuple(CommandedMind(self._decide) for _ in world.agents)
        self._plan: tuple[JointMove, ...] = ()
        self._board: Board | None = None
        """The board on which the next step of the plan is to be made."""

    def _decide(self, view: View) -> Plan:
        return self.plan(view.agent, observed(self._world.global_observation()).to_board())

    def plan(self, agent: int, board: Board) -> Plan:
        """Return the next step of an agent on a board."""
        if board != self._board:
            self._go_on(board)
        move = self._plan[0].get(agent) if self._plan else None
        return one_step(
            board.grid, agent, move, "the team's plan" if move is not None else "no box is mine to move now"
        )

    def _go_on(self, board: Board) -> None:
        """Take the next step of the plan where the board is what it foresaw; else plan anew."""
        if self._board is not None and self._plan and self._board.after(self._plan[0]).board == board:
            self._plan = self._plan[1:]
        else:
            self._plan = greedy(board)
        self._board = board

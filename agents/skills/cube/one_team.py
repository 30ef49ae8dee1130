"""The heuristic of the CUBE page for CUBE: one block at a time, the one closest to the goal.

As the page describes it, agents are assigned to that block and carry out `move_to_block`, `rendezvous` and
`push_block` until it is delivered, with neither optimised paths nor a plan for congestion. How many are assigned it
leaves open. Here all are: those over and above the weight line up behind the others and push too, so that nobody is
left to stand in the way.
"""

from __future__ import annotations

from cube_env import SymbolicObservation
from maeil.mind import Thought, View
from quorum.agents.skills.cube.wording import Wording


class OneTeamMind:
    """The mind of one agent. It keeps nothing: the block that is being pushed stays the closest until it is delivered.

    Args:
        wording: of its plans.
    """

    def __init__(self, wording: Wording) -> None:
        self._wording = wording

    async def think(self, view: View) -> Thought:
        """Work on the block that is closest to the goal; of several, on the one with the lowest id."""
        assert isinstance(view.observation, SymbolicObservation)
        block = min(view.observation.blocks, key=lambda block: (block.distance, block.id))
        return Thought(self._wording.delivery(block, f"of all blocks, block {block.id} is the closest to the goal"))

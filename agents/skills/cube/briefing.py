"""What a coordinator is told of CUBE."""

from __future__ import annotations

from cube_env import SymbolicObservation
from quorum.agents.coordination.joint import Sight
from quorum.agents.skills.contract import Briefing


class CubeBriefing(Briefing):
    """The board, which all see alike; of past decisions how many blocks were left, and how far they had to go."""

    def digest(self, sight: Sight) -> object:
        """Return the number of blocks and the sum of their distances to the goal, in cells."""
        board = sight.global_observation
        assert isinstance(board, SymbolicObservation)
        return {"blocks": len(board.blocks), "distance": sum(block.distance for block in board.blocks)}

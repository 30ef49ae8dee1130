"""What a coordinator is told of grid transportation."""

from __future__ import annotations

from typing import Any

from llamac_env import TransportObservation
from maeil.mind import Observation
from quorum.agents.coordination.joint import Sight
from quorum.agents.skills.contract import Briefing
from quorum.agents.skills.transport.moves import distance_left


class TransportBriefing(Briefing):
    """The board with what each agent can do; of past decisions the boxes that were left, and how far they had to go."""

    def state(self, sight: Sight) -> object:
        """Return the board in the paper's format, and for each agent its cell and the moves that it can make."""
        seen = observed(sight.global_observation)
        agents: dict[str, Any] = {}
        for observation in map(observed, sight.agents):
            agents[observation.agent] = {"square": observation.square, "can_do": observation.can_do}
        return {
            "difficulty": seen.difficulty,
            "entry_rule": seen.entry_rule,
            "rows": seen.rows,
            "cols": seen.cols,
            "step": seen.step,
            "max_steps": seen.max_steps,
            "board": seen.board,
            "agents": agents,
        }

    def digest(self, sight: Sight) -> object:
        """Return the number of boxes and the sum of their distances to the nearest target of their colour, in cells."""
        board = observed(sight.global_observation).to_board()
        distances = (distance_left(board, box.colour, box.place) for box in board.boxes)
        return {"boxes": len(board.boxes), "distance": sum(distances)}


def observed(observation: Observation) -> TransportObservation:
    """Return an observation as one of this world."""
    assert isinstance(observation, TransportObservation)
    return observation

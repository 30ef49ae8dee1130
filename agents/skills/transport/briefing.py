"""What a coordinator is told of grid transportation."""

from __future__ import annotations

from llamac_env import TransportObservation, moves_by_box
from maeil.mind import Observation
from quorum.agents.coordination.joint import Sight
from quorum.agents.skills.contract import Briefing
from quorum.agents.skills.transport.moves import distance_left


class TransportBriefing(Briefing):
    """The board with what each agent can do; of past decisions the boxes that were left, and how far they had to go."""

    def state(self, sight: Sight) -> object:
        """Return the board, and for each agent that can do something its cell and the moves that it can make."""
        seen = observed(sight.global_observation)
        agents = {
            own.agent: {"square": own.square, "can_do": moves_by_box(own.can_do)}
            for own in map(observed, sight.agents)
            if own.can_do
        }
        return {**seen.shown(), "agents": agents}

    def digest(self, sight: Sight) -> object:
        """Return the number of boxes and the sum of their distances to the nearest target of their colour, in cells."""
        board = observed(sight.global_observation).to_board()
        distances = (distance_left(board, box.colour, box.place) for box in board.boxes)
        return {"boxes": len(board.boxes), "distance": sum(distances)}


def observed(observation: Observation) -> TransportObservation:
    """Return an observation as one of this world."""
    assert isinstance(observation, TransportObservation)
    return observation

"""What a coordinator is told of grid transportation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llamac_env import TransportObservation, moves_by_box
from maeil.mind import Observation
from quorum.agents.coordination.joint import Sight
from quorum.agents.skills.contract import Briefing
from quorum.agents.skills.transport.moves import distance_left


@dataclass(frozen=True, slots=True)
class TransportState:
    """The board, and what the agents can do.

    Attributes:
        seen: the board, from outside.
        agents: what each agent sees.
    """

    seen: TransportObservation
    agents: tuple[TransportObservation, ...]

    def shown(self) -> dict[str, Any]:
        """What a prompt shows: the board, and the moves of each agent that has any. Fulfils `maeil.mind.Shown`."""
        moves = {own.agent: moves_by_box(own.can_do) for own in self.agents if own.can_do}
        return {**self.seen.shown(), "can_do": moves}


class TransportBriefing(Briefing):
    """The board with what each agent can do; of past decisions the boxes that were left, and how far they had to go."""

    def state(self, sight: Sight) -> TransportState:
        """Return the board, and the moves that each agent can make."""
        return TransportState(observed(sight.global_observation), tuple(map(observed, sight.agents)))

    def digest(self, sight: Sight) -> object:
        """Return the number of boxes and the sum of their distances to the nearest target of their colour, in cells."""
        board = observed(sight.global_observation).to_board()
        distances = (distance_left(board, box.colour, box.place) for box in board.boxes)
        return {"boxes": len(board.boxes), "distance": sum(distances)}


def observed(observation: Observation) -> TransportObservation:
    """Return an observation as one of this world."""
    assert isinstance(observation, TransportObservation)
    return observation

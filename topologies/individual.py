"""Nobody talks: every agent plans alone, all at once (EmCoop, `individual`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from maeil.component import Component, ComponentConfig, Handover, TopologyContext
from maeil.mind import Act, Turn
from maeil.topology import ConversationState, Topology


class IndividualConfig(ComponentConfig):
    """`individual` has no parameters."""

    name: Literal["individual"]


class Individual(Topology):
    """No edges; whoever needs a plan makes one at once."""

    name = "individual"
    words = "Nobody talks in this team: each agent decides alone, by what it sees."

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return a turn to plan for every undecided agent."""
        return [Turn(agent, frozenset({Act.PLAN})) for agent in conversation.undecided]


component: Component[IndividualConfig, TopologyContext, Individual] = Component(
    IndividualConfig, lambda _config, _context: Individual(), handover=Handover.FRESH
)

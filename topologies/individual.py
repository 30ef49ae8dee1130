"""Nobody talks: every agent plans alone, all at once (EmCoop, `individual`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from maeil.component import Component, ComponentConfig
from maeil.mind import Act, Turn
from maeil.topology import ConversationState


class IndividualConfig(ComponentConfig):
    """`individual` has no parameters."""

    name: Literal["individual"]


class Individual:
    """No edges; whoever needs a plan makes one at once."""

    name = "individual"
    coordinated = False

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Give every undecided agent a turn to plan."""
        return [Turn(agent, frozenset({Act.PLAN})) for agent in conversation.undecided]


component = Component(IndividualConfig, lambda _config, _agents: Individual())

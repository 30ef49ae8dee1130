"""Free talk: anybody may write to anybody, within a budget for each environment step (EmCoop, `decentralized`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import NonNegativeInt

from maeil.component import Component, ComponentConfig, Handover, TopologyContext
from maeil.mind import Act, Turn
from maeil.topology import ConversationState, Topology, everyone_but


class DecentralizedConfig(ComponentConfig):
    """Parameters of `decentralized`."""

    name: Literal["decentralized"]
    budget: NonNegativeInt
    """Messages that an agent may send in one environment step; a broadcast is one."""


class Decentralized(Topology):
    """Whoever has a decision to make may speak with it, as long as its budget lasts; nobody waits for anybody."""

    name = "decentralized"
    words = (
        "Anybody may write to anybody, a few messages in each step. A message interrupts those whom it reaches, so "
        "write what they need."
    )

    def __init__(self, config: DecentralizedConfig, _context: TopologyContext | None = None) -> None:
        self._budget = config.budget

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return a turn for every undecided agent at once."""
        return [self._turn(agent, conversation) for agent in conversation.undecided]

    def _turn(self, agent: int, conversation: ConversationState) -> Turn:
        left = self._budget - conversation.sent(agent)
        others = everyone_but(agent, conversation)
        if left <= 0 or not others:
            return Turn(agent, frozenset({Act.PLAN}))
        return Turn(agent, frozenset({Act.SPEAK, Act.PLAN}), others, limit=left)


component = Component(DecentralizedConfig, Decentralized, handover=Handover.FRESH)

"""One after the other: read, speak to all later ones, plan (COOP2's broadcast chain, its variant of debate)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from maeil.component import Component, ComponentConfig, Handover, TopologyContext
from maeil.mind import Act, Turn
from maeil.topology import ConversationState, Topology


class ChainConfig(ComponentConfig):
    """`chain` has no parameters."""

    name: Literal["chain"]


class Chain(Topology):
    """The undecided agent with the smallest index has the turn; what it says goes to all with a larger one.

    Messages only go up, so nobody is woken who had its turn before, and the conversation ends with the last agent.
    """

    name = "chain"
    words = (
        "The agents decide one after the other. Each hears those before it and tells those after it what it is "
        "going to do."
    )

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return a turn to speak and plan for the first undecided agent."""
        if not conversation.quiet or not conversation.undecided:
            return []
        agent = conversation.undecided[0]
        later = tuple(range(agent + 1, conversation.agents))
        return [Turn(agent, frozenset({Act.SPEAK, Act.PLAN}) if later else frozenset({Act.PLAN}), later)]


component: Component[ChainConfig, TopologyContext, Chain] = Component(
    ChainConfig, lambda _config, _context: Chain(), handover=Handover.FRESH
)

"""The plain topologies: nobody talks, one after the other, all hear all, anybody to anybody.

| name | who talks | source |
|---|---|---|
| `individual` | nobody: every agent plans alone, all at once | EmCoop |
| `chain` | one after the other: read, speak to all later ones, plan | COOP2's broadcast chain, its variant of debate |
| `debate` | everybody hears everybody, in index order, before anybody plans | EmCoop |
| `decentralized` | anybody may write to anybody, within a budget for each environment step | EmCoop |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import NonNegativeInt, PositiveInt

from maeil.component import Component, ComponentConfig, Handover, TopologyContext
from maeil.mind import Act, Turn
from maeil.topology import ConversationState, Topology, everyone_but, turns_with


class Individual(Topology):
    """No edges; whoever needs a plan makes one at once."""

    name = "individual"
    talks = False
    words = "Nobody talks in this team: each agent decides alone, from what it sees."

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return a turn to plan for every undecided agent."""
        return [Turn(agent, frozenset({Act.PLAN})) for agent in conversation.undecided]


class Chain(Topology):
    """The undecided agent with the smallest index has the turn; what it says goes to all with a larger one.

    Messages only go up, so nobody is woken who had its turn before, and the conversation ends with the last agent.
    """

    name = "chain"
    words = (
        "The agents decide in turn. Each agent hears the agents before it, and tells the agents after it what it is "
        "going to do."
    )

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return a turn to speak and plan for the first undecided agent."""
        if not conversation.quiet or not conversation.undecided:
            return []
        agent = conversation.undecided[0]
        later = tuple(range(agent + 1, conversation.agents))
        return [Turn(agent, frozenset({Act.SPEAK, Act.PLAN}) if later else frozenset({Act.PLAN}), later)]


class DebateConfig(ComponentConfig):
    """Parameters of `debate`."""

    name: Literal["debate"]
    rounds: PositiveInt
    """How often each speaks before all plan."""


class Debate(Topology):
    """Those who need a plan broadcast in index order, `rounds` times; then they and all whom they woke decide at once.

    Each has read all earlier speeches when it speaks. Those whom a broadcast has interrupted listen and decide; they do
    not speak, so a conversation has at most `rounds` speeches for each agent that needs a plan.
    """

    name = "debate"
    words = "The agents that need a plan speak in turn, and all agents hear them. Then all decide at once."

    def __init__(self, config: DebateConfig, _context: TopologyContext | None = None) -> None:
        self._config = config
        self.rounds = config.rounds

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return the turn of the next speaker, or a turn to plan for everybody."""
        if not conversation.quiet:
            return []
        spoken = turns_with(Act.SPEAK, conversation)
        for speeches in range(self._config.rounds):
            for agent in conversation.opened_by:
                if spoken[agent] <= speeches and conversation.may_speak(agent) and conversation.agents > 1:
                    return [Turn(agent, frozenset({Act.SPEAK}), everyone_but(agent, conversation))]
        return [Turn(agent, frozenset({Act.PLAN})) for agent in conversation.undecided]


class DecentralizedConfig(ComponentConfig):
    """Parameters of `decentralized`."""

    name: Literal["decentralized"]
    budget: NonNegativeInt
    """Messages that an agent may send in one environment step; a broadcast is one."""


class Decentralized(Topology):
    """Whoever has a decision to make may speak with it, as long as its budget lasts; nobody waits for anybody."""

    name = "decentralized"
    words = (
        "Any agent may write to any other, a few messages in each step. A message interrupts its recipients, so write "
        "only what they need."
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


individual: Component[ComponentConfig, TopologyContext, Individual] = Component(
    ComponentConfig, lambda _config, _context: Individual(), handover=Handover.FRESH
)
chain: Component[ComponentConfig, TopologyContext, Chain] = Component(
    ComponentConfig, lambda _config, _context: Chain(), handover=Handover.FRESH
)
debate = Component(DebateConfig, Debate, handover=Handover.FRESH)
decentralized = Component(DecentralizedConfig, Decentralized, handover=Handover.FRESH)

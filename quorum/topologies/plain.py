"""The plain topologies: no messages, a chain, a debate, and free messages.

| name | who talks | source |
|---|---|---|
| `individual` | no one: every agent plans alone, all at once | EmCoop |
| `chain` | one after another: read, speak to all later agents, plan | COOP2's broadcast chain, its variant of debate |
| `debate` | all hear all, in index order, before any agent plans | EmCoop |
| `decentralized` | any agent may write to any other, within a budget for each environment step | EmCoop |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import NonNegativeInt, PositiveInt

from maeil.component import Component, ComponentConfig, Handover, TopologyContext
from maeil.mind import Act, Turn
from maeil.topology import ConversationState, Topology, everyone_but, turns_with


class Individual(Topology):
    """No edges; every agent that needs a plan makes one at once."""

    name = "individual"
    talks = False
    words = "Nobody talks in this team: each agent decides alone, from what it sees."

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return a turn to plan for every undecided agent."""
        return [Turn(agent, frozenset({Act.PLAN})) for agent in conversation.undecided]


class Chain(Topology):
    """The undecided agent with the smallest index has the turn and speaks to all agents with a larger index.

    Messages only go up, so they never wake an agent that already had its turn, and the conversation ends with the last
    agent.
    """

    name = "chain"
    words = (
        "The agents decide in turn. Each agent hears the agents before it, and announces its plan to the agents after "
        "it."
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
    """How often each agent speaks before all plan."""


class Debate(Topology):
    """Agents that need a plan broadcast in index order, `rounds` times; then they and those they woke decide at once.

    Each speaker has read all earlier messages. Agents interrupted by a broadcast listen and decide but do not speak, so
    a conversation has at most `rounds` messages per agent that needs a plan.
    """

    name = "debate"
    words = "The agents that need a plan speak in turn, and all agents hear them. Then all decide at once."

    def __init__(self, config: DebateConfig, _context: TopologyContext | None = None) -> None:
        self._config = config
        self.rounds = config.rounds

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return the turn of the next speaker, or turns to plan for all."""
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
    """Messages that an agent may send in one environment step; a broadcast counts as one."""


class Decentralized(Topology):
    """Every agent that has a decision to make may also speak, within its budget; agents do not wait for each other."""

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

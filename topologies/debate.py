"""Everybody hears everybody, in index order, before anybody plans (EmCoop, `debate`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import PositiveInt

from maeil.component import Component, ComponentConfig, Handover, TopologyContext
from maeil.mind import Act, Turn
from maeil.topology import ConversationState, Topology, everyone_but, turns_with


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
    words = "The agents that need a plan speak one after the other, and everybody hears them; then all decide at once."

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


component = Component(DebateConfig, Debate, handover=Handover.FRESH)

"""A topology in which each agent hears the previous one and talks to the next, as in the children's game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from maeil import Act, Component, ComponentConfig, ConversationState, Topology, TopologyContext, Turn
from quorum.configuration.registry import topologies


class WhisperConfig(ComponentConfig):
    """The values of `configs/topology/whisper.yaml`: only the name."""

    name: Literal["whisper"]


class Whisper(Topology):
    """The undecided agent with the lowest index has the turn, and may write only to the next one."""

    name = "whisper"
    words = "The agents decide one after the other. Each hears the one before it, and talks only to the one after it."

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return the turn of the first undecided agent: to speak and to plan, or for the last agent only to plan."""
        if not conversation.quiet or not conversation.undecided:
            return []
        agent = conversation.undecided[0]
        if agent + 1 == conversation.agents:
            return [Turn(agent, frozenset({Act.PLAN}))]
        return [Turn(agent, frozenset({Act.SPEAK, Act.PLAN}), (agent + 1,))]


def build(config: WhisperConfig, context: TopologyContext) -> Whisper:  # noqa: ARG001
    """Build the topology."""
    return Whisper()


topologies.register("whisper", Component(WhisperConfig, build))

"""Agents say what they offer and need; who writes to whom follows from that in each round (arXiv 2602.06039)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from maeil.component import Component, ComponentConfig, Handover, TopologyContext
from maeil.extensions.describe.describing import DESCRIBE, DescribeConfig, MatcherName, routes
from maeil.extensions.describe.descriptors import EMBEDDING, Affinity, Edge
from maeil.mind import Act, Turn
from maeil.topology import ConversationState, Topology
from quorum.topologies.routing import in_order, strongest, without_cycles


class RoutedConfig(ComponentConfig):
    """Parameters of topologies in which offers and needs are matched."""

    matcher: MatcherName
    """What needs are compared with offers by."""
    threshold: Annotated[float, Field(ge=0, le=1)]
    """The least score at which one who offers writes to one who needs."""
    inputs: PositiveInt
    """How many write to an agent in a round, at most: those with the highest scores."""
    rounds: PositiveInt
    """How often all say what they offer and need, and then write, before all plan."""


class DytopoConfig(RoutedConfig):
    """Parameters of `dytopo`."""

    name: Literal["dytopo"]


class Dytopo(Topology):
    """Rounds in which those who need a plan describe themselves at once, then write along the edges; then they decide.

    They write one after the other in topological order, so each has read what was routed to it before it writes. Those
    whom a message has woken decide as well; they do not speak.
    """

    name = "dytopo"
    words = (
        "In a round the agents that need a plan say what they offer and what they need. Then it is settled who writes "
        "to whom, and they write one after the other. In the end all decide at once."
    )

    def __init__(self, config: RoutedConfig, _context: TopologyContext | None = None) -> None:
        self._config = config
        self.rounds = config.rounds
        self.embeds = config.matcher == EMBEDDING

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return the turn of the next to write, the turns of all to describe themselves, or a turn to plan for all."""
        if not conversation.quiet:
            return []
        if (writer := _next_writer(conversation)) is not None:
            return [writer]
        talkers = [agent for agent in conversation.opened_by if conversation.may_speak(agent)]
        if len(talkers) > 1 and len(routes(conversation)) < self._config.rounds:
            return [Turn(agent, frozenset(), asks=frozenset({DESCRIBE})) for agent in talkers]
        return [Turn(agent, frozenset({Act.PLAN})) for agent in conversation.undecided]

    def route(self, affinity: Affinity, _conversation: ConversationState) -> Sequence[Edge]:
        """Return the edges of the best scores, without a cycle."""
        return without_cycles(strongest(affinity, self._config.threshold, self._config.inputs), affinity)


def _next_writer(conversation: ConversationState) -> Turn | None:
    """Return the turn of the first, in the order of the edges, that has not written in this round."""
    rounds = routes(conversation)
    if not rounds:
        return None
    edges, wrote = rounds[-1], set()
    for taken in reversed(conversation.taken):
        if DESCRIBE in taken.turn.asks:
            break
        wrote.add(taken.turn.agent)
    for agent in in_order({agent for edge in edges for agent in edge}, edges):
        recipients = tuple(sorted(b for a, b in edges if a == agent))
        if recipients and agent not in wrote and conversation.may_speak(agent):
            return Turn(agent, frozenset({Act.SPEAK}), recipients, limit=1)
    return None


def requires(config: RoutedConfig) -> Mapping[str, DescribeConfig]:
    """Return the extension in which agents describe themselves."""
    return {DESCRIBE: DescribeConfig(matcher=config.matcher)}


def roles(config: RoutedConfig) -> Sequence[str]:
    """Return the roles in which models are asked besides that of all turns."""
    return (EMBEDDING,) if config.matcher == EMBEDDING else ()


component = Component(DytopoConfig, Dytopo, roles=roles, requires=requires, handover=Handover.FRESH)

"""Conversation along the edges of a graph: a named graph, a list of edges, or a dynamic graph of nearby agents."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from maeil.component import Component, ComponentConfig, Handover, TopologyContext
from maeil.mind import Act, Turn
from maeil.topology import ConversationState, Topology, turns_with
from quorum.topologies.edges import Edge, check_edges, near, neighbours, ring, small_world, tree


class GraphConfig(ComponentConfig):
    """Parameters of `graph`."""

    name: Literal["graph"]
    shape: Literal["ring", "star", "tree", "small_world", "edges", "near"]
    """The graph; every edge goes both ways."""
    rounds: PositiveInt
    """Number of rounds in which all speak at once before all plan."""
    edges: list[tuple[NonNegativeInt, NonNegativeInt]]
    """Pairs of agent indices, for `edges`."""
    branching: PositiveInt
    """Children of each agent, for `tree`; agent 0 is the root."""
    neighbours: PositiveInt
    """Neighbours of each agent before rewiring, for `small_world`; half of them on either side of the ring."""
    rewiring: Annotated[float, Field(ge=0, le=1)]
    """Probability that an edge is rewired, for `small_world`."""
    rewiring_seed: NonNegativeInt
    """Seed of the rewiring, for `small_world`."""
    radius: NonNegativeFloat
    """Largest distance between agents that can talk, for `near`, in the world's measure."""


class AlongEdges(Topology):
    """Rounds in which agents that need a plan speak at once to their neighbours; then they and those they woke decide.

    Args:
        rounds: number of rounds.
        edges: the edges that the configuration lists.
        context: the team.

    Raises:
        ValueError: an edge does not join two of the agents.
    """

    def __init__(self, rounds: int, edges: Sequence[Edge], context: TopologyContext | None) -> None:
        if context is not None:
            check_edges(edges, context.agents)
        self.rounds: int = rounds

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return the turns of all speakers of the round, or turns to plan for all."""
        if not conversation.quiet:
            return []
        spoken = turns_with(Act.SPEAK, conversation)
        for done in range(self.rounds):
            if speakers := [a for a in conversation.opened_by if spoken[a] <= done and conversation.may_speak(a)]:
                reach = self.reach(conversation)
                talkers = [Turn(a, frozenset({Act.SPEAK}), tuple(reach[a])) for a in speakers if reach[a]]
                if talkers:
                    return talkers
        return [Turn(agent, frozenset({Act.PLAN})) for agent in conversation.undecided]

    @abstractmethod
    def reach(self, conversation: ConversationState) -> Sequence[Sequence[int]]:
        """Return the agents each agent can write to, ascending."""


class Graph(AlongEdges):
    """Talk along the edges of a graph; each goes both ways."""

    name = "graph"
    words = "Each agent can write only to its neighbours. Pass on what other agents should know."

    def __init__(self, config: GraphConfig, context: TopologyContext | None = None) -> None:
        super().__init__(config.rounds, config.edges, context)
        self._config = config

    def reach(self, conversation: ConversationState) -> Sequence[Sequence[int]]:
        """Return the neighbours of each agent."""
        return neighbours(self._edges(conversation), conversation.agents)

    def _edges(self, conversation: ConversationState) -> Iterable[Edge]:
        n, config = conversation.agents, self._config
        match config.shape:
            case "ring":
                return ring(range(n))
            case "star":
                return [(0, a) for a in range(1, n)]
            case "tree":
                return tree(n, config.branching)
            case "small_world":
                return small_world(n, config.neighbours, config.rewiring, config.rewiring_seed)
            case "edges":
                return config.edges
            case "near":
                return near(range(n), conversation, config.radius)


component = Component(GraphConfig, Graph, handover=Handover.FRESH)

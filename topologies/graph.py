"""Talk along the edges of any graph: fixed ones by name or as a list, or a dynamic one of who is near whom."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from maeil.component import Component, ComponentConfig, TopologyContext
from maeil.mind import Act, Turn
from maeil.topology import ConversationState, Topology, turns_with

Edge = tuple[int, int]


class GraphConfig(ComponentConfig):
    """Parameters of `graph`."""

    name: Literal["graph"]
    shape: Literal["ring", "star", "tree", "small_world", "edges", "near"]
    """Which graph; every edge goes both ways."""
    rounds: PositiveInt
    """How often all speak at once before all plan."""
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
    """Largest distance of agents that can talk, in the world's measure, for `near`."""


class Graph(Topology):
    """Rounds in which all who need a plan speak to their neighbours at once; then they and those they woke decide."""

    name = "graph"
    words = "Each agent can write to its neighbours alone; what others should know has to be passed on."

    def __init__(self, config: GraphConfig) -> None:
        self._config = config
        self.rounds = config.rounds

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return the turns of all speakers of the round, or a turn to plan for everybody."""
        if not conversation.quiet:
            return []
        spoken = turns_with(Act.SPEAK, conversation)
        for done in range(self._config.rounds):
            if speakers := [a for a in conversation.opened_by if spoken[a] <= done and conversation.may_speak(a)]:
                reach = self._neighbours(conversation)
                talkers = [Turn(a, frozenset({Act.SPEAK}), reach[a]) for a in speakers if reach[a]]
                if talkers:
                    return talkers
        return [Turn(agent, frozenset({Act.PLAN})) for agent in conversation.undecided]

    def _neighbours(self, conversation: ConversationState) -> list[tuple[int, ...]]:
        """Whom each agent can write to."""
        found: list[set[int]] = [set() for _ in range(conversation.agents)]
        for a, b in self._edges(conversation):
            found[a].add(b)
            found[b].add(a)
        return [tuple(sorted(others)) for others in found]

    def _edges(self, conversation: ConversationState) -> Iterable[Edge]:
        n, config = conversation.agents, self._config
        match config.shape:
            case "ring":
                return [(a, (a + 1) % n) for a in range(n) if n > 1]
            case "star":
                return [(0, a) for a in range(1, n)]
            case "tree":
                return [((a - 1) // config.branching, a) for a in range(1, n)]
            case "small_world":
                return small_world(n, config.neighbours, config.rewiring, config.rewiring_seed)
            case "edges":
                return config.edges
            case "near":
                return _near(conversation, config.radius)


def small_world(n: int, neighbours: int, rewiring: float, seed: int) -> list[Edge]:
    """Draw a small-world graph (Watts and Strogatz, Nature 393, 1998).

    A ring in which each of `n` nodes is joined to its `neighbours // 2` next ones on either side; then every edge is
    given, with probability `rewiring`, another far end, never itself and never a neighbour that it has.
    """
    rng = random.Random(seed)
    edges = {tuple(sorted((a, (a + k) % n))) for a in range(n) for k in range(1, max(neighbours // 2, 1) + 1) if n > 1}
    joined = {edge for edge in edges if edge[0] != edge[1]}
    for a, b in sorted(joined):
        free = [c for c in range(n) if c != a and tuple(sorted((a, c))) not in joined]
        if rng.random() < rewiring and free:
            joined.remove((a, b))
            c = rng.choice(free)
            joined.add((min(a, c), max(a, c)))
    return [(edge[0], edge[1]) for edge in sorted(joined)]


def _near(conversation: ConversationState, radius: float) -> list[Edge]:
    found = []
    for a in range(conversation.agents):
        for b in range(a + 1, conversation.agents):
            distance = conversation.distance(a, b)
            if distance is not None and distance <= radius:
                found.append((a, b))
    return found


def build(config: GraphConfig, context: TopologyContext) -> Graph:
    """Make the topology.

    Raises:
        ValueError: an edge does not join two of the agents.
    """
    for a, b in config.edges:
        if a == b or max(a, b) >= context.agents:
            raise ValueError(f"edges: ({a}, {b}) does not join two of the agents, 0 to {context.agents - 1}")
    return Graph(config)


component = Component(GraphConfig, build)
